import { hash } from 'node:crypto';
import type { CanonicalContent } from './description.ts';
import { type FormField, readForm } from './read-form.ts';
import { type ContentPieces, readSingleHeader, type SignedRequest } from './signed-request.ts';

/** The values of {timestamp} and {id} in a request. */
export interface ContentTexts {
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

/**
 * Returns what a signature of the request may cover, usually one content; none if the request lacks a part of it. What is
 * signed here covers the first one.
 */
export type ContentReader = (request: SignedRequest, texts: ContentTexts) => readonly ContentPieces[];

/** Compiles a scheme's content once for all requests. Throws a TypeError for an invalid template. */
export function compileContent(content: string | CanonicalContent): ContentReader {
  if (typeof content !== 'string') return canonicalReaders[content.canonical];
  const template = parseTemplate(content);
  if (!template.ok) throw new TypeError(`signed content: ${template.problem}`);
  const { pieces } = template;
  return (request, texts) => {
    const signed: (string | Buffer)[] = [];
    // Joins the texts between bodies first: each update of a hash costs more than a concatenation.
    let pending = '';
    for (const piece of pieces) {
      if (piece.placeholder === 'body') {
        if (pending !== '') signed.push(pending);
        signed.push(request.body);
        pending = '';
      } else {
        pending += piece.placeholder ? readPlaceholder(piece.placeholder, request, texts) : piece.literal;
      }
    }
    if (pending !== '') signed.push(pending);
    return [signed];
  };
}

export type Template =
  | { readonly ok: true; readonly pieces: readonly Piece[]; readonly placeholders: ReadonlySet<string> }
  | { readonly ok: false; readonly problem: string };

type Piece =
  | { readonly literal: string; readonly placeholder?: never }
  | { readonly placeholder: Placeholder };

const placeholders = ['body', 'timestamp', 'id', 'url', 'method'] as const;
type Placeholder = (typeof placeholders)[number];

/** All placeholders, as a template writes them. */
export const placeholderList = placeholders.map(name => `{${name}}`).join(' ');

/** @limit Longest template of signed content, in characters: providers' templates have fewer than 40, and a sender's own may add some constant text. */
const templateCharactersMax = 256;

/** Parses a template like `{timestamp}.{body}`, or says what is wrong with it. */
export function parseTemplate(template: string): Template {
  if (template.length > templateCharactersMax) {
    return { ok: false, problem: `content is longer than ${templateCharactersMax} characters` };
  }
  if (!/^[\n\x20-\x7e]*$/.test(template)) {
    return { ok: false, problem: 'content must be printable ASCII' };
  }
  const pieces: Piece[] = [];
  for (const token of template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? []) {
    if (!/[{}]/.test(token)) {
      pieces.push({ literal: token });
      continue;
    }
    const placeholder = placeholders.find(name => token === `{${name}}`);
    if (!placeholder) return { ok: false, problem: `content contains ${token}, which is not a placeholder` };
    pieces.push({ placeholder });
  }
  return { ok: true, pieces, placeholders: new Set(pieces.flatMap(piece => piece.placeholder ?? [])) };
}

function readPlaceholder(
  placeholder: Exclude<Placeholder, 'body'>,
  request: SignedRequest,
  texts: ContentTexts,
): string {
  switch (placeholder) {
    case 'timestamp':
      return texts.timestamp ?? '';
    case 'id':
      return texts.id ?? '';
    case 'url':
      return request.url;
    case 'method':
      return request.method;
  }
}

const canonicalReaders: Readonly<Record<CanonicalContent['canonical'], ContentReader>> = {
  contentful: listContentfulContents,
  'url-and-form': listUrlAndFormContents,
};

/**
 * The URL, and then the form's fields by their names: name and value without anything between. Of a repeated name, each
 * value once, in order. A JSON body is not covered itself, but by its SHA-256 in the query of the URL. Twilio signs some
 * URLs with their port and others without. Source: twilio 6.2.0, `lib/webhooks/webhooks.js`, on 2026-11-25.
 */
function listUrlAndFormContents({ url, body }: SignedRequest): readonly ContentPieces[] {
  const fields = readSignedFields(url, body);
  if (fields === undefined) return [];
  const bytes = Buffer.from(fields);
  return [
    [url, bytes],
    [swapPort(url), bytes],
  ];
}

function readSignedFields(url: string, body: Buffer): string | undefined {
  const digest = new URLSearchParams(url.split('?')[1]).get('bodySHA256');
  if (digest !== null) return digest === hash('sha256', body) ? '' : undefined;
  const form = readForm(body);
  if (!form.ok) return undefined;
  const byName = [...Map.groupBy(form.fields, ([name]) => name)].sort(([a], [b]) => (a < b ? -1 : 1));
  return byName
    .map(([name, fields]) =>
      listValues(fields)
        .map(value => name + value)
        .join(''),
    )
    .join('');
}

function listValues(fields: readonly FormField[]): readonly string[] {
  return [...new Set(fields.map(([, value]) => value))].sort();
}

/** The URL without its port; with the port of its scheme if it has none. */
function swapPort(url: string): string {
  return url.replace(
    /^(https?):\/\/([^/?#]*?)(:\d+)?(?=[/?#]|$)/i,
    (_, scheme: string, host: string, port) => {
      const standard = scheme.toLowerCase() === 'https' ? ':443' : ':80';
      return `${scheme}://${host}${port === undefined ? standard : ''}`;
    },
  );
}

const contentfulListHeader = 'x-contentful-signed-headers';

/** @limit Most headers that a Contentful signature may cover: Contentful signs two of its own and those that its user adds. */
const contentfulHeadersMax = 32;

/**
 * Builds Contentful's canonical request: method, path, signed headers and body, one per line. One header lists the
 * signed ones. The list must include itself and the timestamp, or an attacker could replace them. Source: `requests`
 * in @contentful/node-apps-toolkit.
 */
function listContentfulContents({ headers, method, url, body }: SignedRequest): readonly ContentPieces[] {
  const list = readSingleHeader(headers, contentfulListHeader);
  if (typeof list !== 'string') return [];
  const names = list.split(',', contentfulHeadersMax + 1).map(name => name.trim().toLowerCase());
  if (names.length > contentfulHeadersMax) return [];
  if (!names.includes(contentfulListHeader) || !names.includes('x-contentful-timestamp')) return [];

  const lines: string[] = [];
  for (const name of names.sort()) {
    const value = readSingleHeader(headers, name);
    if (typeof value !== 'string') return [];
    lines.push(`${name}:${value.trim()}`);
  }
  return [[`${method}\n${formatContentfulPath(url)}\n${lines.join(';')}\n`, body]];
}

function formatContentfulPath(url: string): string {
  const { pathname, search } = new URL(url);
  return search === '' ? pathname : `${pathname}?${encodeURI(encodeURIComponent(search.slice(1)))}`;
}
