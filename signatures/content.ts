import type { SignedContent } from './description.ts';
import type { SignedRequest } from './verify.ts';

/** The texts that {timestamp} and {id} mean in a request. */
export interface ContentTexts {
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

/** The signed bytes in pieces. Strings stand for their latin1 bytes, as header values do in node. */
export type ContentPieces = readonly (string | Buffer)[];

export type ContentReader = (request: SignedRequest, texts: ContentTexts) => ContentPieces | undefined;

/** Readies a scheme's content for requests. A template is one that `parseTemplate` accepts. */
export function compileContent(content: string | SignedContent): ContentReader {
  if (typeof content !== 'string') return content;
  const template = parseTemplate(content);
  if (!template.ok) throw new TypeError(`signed content: ${template.problem}`);
  const { pieces } = template;
  return (request, texts) => {
    const signed: (string | Buffer)[] = [];
    // Texts between bodies are joined first: each update of a hash costs more than a concatenation.
    let pending = '';
    for (const piece of pieces) {
      if (piece.placeholder === 'body') {
        if (pending !== '') signed.push(pending);
        signed.push(request.body);
        pending = '';
      } else {
        pending += piece.placeholder ? textOf(piece.placeholder, request, texts) : piece.literal;
      }
    }
    if (pending !== '') signed.push(pending);
    return signed;
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

const templateCharactersMax = 256;

/** Takes a template like `{timestamp}.{body}` apart, or says what is wrong with it. */
export function parseTemplate(template: string): Template {
  if (template.length > templateCharactersMax) {
    return { ok: false, problem: `content is longer than ${templateCharactersMax} characters` };
  }
  if (!/^[\n\x20-\x7e]*$/.test(template)) {
    return { ok: false, problem: 'content holds characters other than printable ASCII' };
  }
  const pieces: Piece[] = [];
  for (const token of template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? []) {
    if (!/[{}]/.test(token)) {
      pieces.push({ literal: token });
      continue;
    }
    const placeholder = placeholders.find(name => token === `{${name}}`);
    if (!placeholder) return { ok: false, problem: `content cannot have ${token}` };
    pieces.push({ placeholder });
  }
  return { ok: true, pieces, placeholders: new Set(pieces.flatMap(piece => piece.placeholder ?? [])) };
}

function textOf(
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
