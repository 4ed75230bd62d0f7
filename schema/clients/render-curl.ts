import type { EventHeaders } from '../headers.ts';
import type { AuthMode } from '../ingress-url.ts';
import { printable } from '../text/printable.ts';
import { renderTokenOption, type TokenKeys } from '../token-place.ts';

/** Headers of the connection on which a delivery arrived (RFC 9110, section 7.6.1), and of that one request. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @limit Longest body that a curl command has as a word, in bytes: some shells and systems take no longer ones; a longer body is base64 on its standard input. */
const wordBytesMax = 64 * 1024;
/** The variable from which the command takes the credential. */
const variable = 'WEBHOOK_SECRET';
/** A name of a header (RFC 9110, section 5.1). For another one, such as `@file`, curl would do something else. */
const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;

interface SentDelivery {
  readonly id: string;
  readonly headers?: EventHeaders | undefined;
  /** Set if its body is a form. */
  readonly form?: object | undefined;
}

interface SentTo extends TokenKeys {
  readonly name: string;
  /** The URL, with `{token}` in place of a token. It starts with `http://` or `https://`, so curl takes it for no option. */
  readonly url: string;
  readonly authMode: AuthMode;
  readonly signatureScheme: string | object | null;
  readonly secretName: string | null;
  readonly issuer: string | null;
  readonly audience: string | null;
}

/**
 * A command for a POSIX shell that sends a stored body and event headers to the webhook's URL again, byte for byte. It
 * contains no credential; comments say what is missing. All that it is given may come from somebody else's server: the
 * command reads no file, and a terminal obeys nothing in it.
 */
export function renderCurl(delivery: SentDelivery, body: Uint8Array, webhook: SentTo): string {
  const { true: sent = [], false: omitted = [] } = Object.groupBy(
    listForwardedHeaders(delivery),
    ([name, value]) => `${fieldName.test(name) && isPrintable(value)}`,
  );
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const isWord = body.length <= wordBytesMax && isPrintable(text.replaceAll(/[\n\t]/g, ''));
  const words = [
    // The URL's brackets and braces are no patterns.
    `curl --globoff ${renderUrl(webhook)}`,
    ...(['token', 'oidc'].includes(webhook.authMode) ? [renderTokenOption(webhook, variable)] : []),
    // Without this, curl would name the content type of a form.
    ...(sent.some(([name]) => name.toLowerCase() === 'content-type') ? [] : [`-H 'Content-Type:'`]),
    ...sent.map(([name, value]) => `-H ${quoteShellWord(value === '' ? `${name};` : `${name}: ${value}`)}`),
    // Only the second one reads a file if its word starts with @.
    isWord ? `--data-raw ${quoteShellWord(text)}` : '--data-binary @-',
  ];
  const command = words.join(' \\\n  ');
  const comments = describe(
    delivery,
    webhook,
    omitted.map(([name]) => name),
  ).map(line => `# ${printable(line)}\n`);
  const base64 = btoa(Array.from(body, byte => String.fromCharCode(byte)).join('')).replaceAll(
    /.{76}/g,
    '$&\n',
  );
  const whole = isWord ? command : `base64 --decode <<'END' | ${command}\n${base64}\nEND`;
  return `${comments.join('')}${whole}\n`;
}

/** Whether a terminal shows text as it is, and obeys nothing in it. */
function isPrintable(text: string): boolean {
  return printable(text) === text;
}

/** The URL, quoted, with control characters escaped: its token comes from the variable. */
function renderUrl({ url }: SentTo): string {
  const [before = '', after] = printable(url).split('{token}');
  return (
    quoteShellWord(before) + (after === undefined ? '' : `"$${variable}"${after && quoteShellWord(after)}`)
  );
}

/** Lines of comment that say what the command leaves out, and which command does it instead. */
function describe(
  { id }: SentDelivery,
  { name, authMode, signatureScheme, secretName, issuer, audience }: SentTo,
  omitted: readonly string[],
): string[] {
  const quotedId = quoteShellWord(id);
  const scheme = typeof signatureScheme === 'string' ? signatureScheme : 'the custom scheme';
  const credential =
    authMode === 'signature'
      ? [
          `The signature of ${scheme} is missing: it is not stored, so this is answered 401.`,
          `To sign the body: hookmill deliveries show ${quotedId} --payload > body.json && hookmill send ${quoteShellWord(name)} --payload body.json`,
        ]
      : [
          authMode === 'oidc'
            ? `Set ${variable} to a token of ${issuer} for the audience ${audience}.`
            : `Set ${variable} to the value of the team secret ${secretName}.`,
        ];
  return [
    ...credential,
    `As long as ${id} is kept, the same ID or body is its duplicate, and starts nothing. To start runs: hookmill deliveries replay ${quotedId}`,
    ...(omitted.length === 0
      ? []
      : [`Left out, because a terminal or curl would obey them: ${omitted.join(', ')}.`]),
  ];
}

/**
 * The names and values that are sent on with a delivery: not the headers of its connection, in whatever case. A form is
 * sent as one also if its sender named no content type.
 */
export function listForwardedHeaders({
  headers = {},
  form,
}: Pick<SentDelivery, 'headers' | 'form'>): readonly (readonly [string, string])[] {
  const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name.toLowerCase()));
  const hasType = kept.some(([name]) => name.toLowerCase() === 'content-type');
  return form && !hasType ? [['content-type', 'application/x-www-form-urlencoded'], ...kept] : kept;
}

/** Quotes text as one word for a POSIX shell. A ~ is quoted too: at the start, it stands for a home directory. */
export function quoteShellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
