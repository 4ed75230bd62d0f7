import type { AuthMode } from './auth-mode.ts';
import type { EventHeaders } from './event-headers.ts';
import { printable } from './printable.ts';
import { quoteShellWord } from './shell-word.ts';

/** @limit Longest body that a curl command has as a word, in bytes: some shells and systems take no longer ones; a longer body is base64 on its standard input. */
const wordBytesMax = 64 * 1024;
/** The variable from which the command takes the credential. */
const variable = 'WEBHOOK_SECRET';

interface SentDelivery {
  readonly id: string;
  readonly headers?: EventHeaders | undefined;
}

interface SentTo {
  readonly name: string;
  /** The URL, with `{token}` in place of a token. */
  readonly url: string;
  readonly authMode: AuthMode;
  readonly signatureScheme: string | object | null;
  readonly secretName: string;
}

/**
 * A command for a POSIX shell that sends a stored body and event headers to the webhook's URL again, byte for byte. It
 * contains no credential; comments say what is missing.
 */
export function renderCurl(delivery: SentDelivery, body: Uint8Array, webhook: SentTo): string {
  const { headers = {} } = delivery;
  const { true: sent = [], false: omitted = [] } = Object.groupBy(
    Object.entries(headers),
    ([, value]) => `${isPrintable(value)}`,
  );
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const isWord = body.length <= wordBytesMax && isPrintable(text.replaceAll(/[\n\t]/g, ''));
  const words = [
    `curl ${renderUrl(webhook)}`,
    ...(webhook.authMode === 'token' ? [`-H "Authorization: Bearer $${variable}"`] : []),
    // Without this, curl would name the content type of a form.
    ...('content-type' in headers ? [] : [`-H 'Content-Type:'`]),
    ...sent.map(([name, value]) => `-H ${quoteShellWord(value === '' ? `${name};` : `${name}: ${value}`)}`),
    `--data-binary ${isWord ? quoteShellWord(text) : '@-'}`,
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

/** The URL, quoted: its token comes from the variable. */
function renderUrl({ url }: SentTo): string {
  const [before = '', after] = url.split('{token}');
  return (
    quoteShellWord(before) + (after === undefined ? '' : `"$${variable}"${after && quoteShellWord(after)}`)
  );
}

/** Lines of comment that say what the command leaves out, and which command does it instead. */
function describe(
  { id }: SentDelivery,
  { name, authMode, signatureScheme, secretName }: SentTo,
  omitted: readonly string[],
): string[] {
  const scheme = typeof signatureScheme === 'string' ? signatureScheme : 'the custom scheme';
  const credential =
    authMode === 'signature'
      ? [
          `The signature of ${scheme} is missing: it is not stored, so this is answered 401.`,
          `To sign the body: hookmill deliveries show ${id} --payload > body.json && hookmill send ${name} --payload body.json`,
        ]
      : [`Set ${variable} to the value of the team secret ${secretName}.`];
  return [
    ...credential,
    `As long as ${id} is kept, the same ID or body is its duplicate, and starts nothing. To start runs: hookmill deliveries replay ${id}`,
    ...(omitted.length === 0
      ? []
      : [`Without characters that a terminal would obey: left out ${omitted.join(', ')}.`]),
  ];
}
