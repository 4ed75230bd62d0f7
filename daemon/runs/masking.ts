import type { RunSaid } from '../../schema/run-report.ts';
import type { RunOutput } from '../../store/ports/run-files.ts';

/** The text that replaces a secret. */
const mask = '[secret]';
/** @limit Shortest line or encoding of a secret that is masked, in characters: shorter ones are in other text by chance. */
const partCharsMin = 8;

/** Output in which secrets are replaced. `flush` writes what may have been the beginning of one. */
export interface MaskedOutput extends Pick<RunOutput, 'write' | 'isFull'> {
  flush(): Promise<void>;
}

/** Replaces the secrets of an attempt in what a command or a receiver says. */
export interface Masking {
  text(text: string): string;
  /** Leaves out a link with a secret, because it would lead elsewhere without it. */
  said(said: RunSaid): RunSaid;
  /** Masks one stream, also a secret that arrives in pieces. */
  output(output: RunOutput): MaskedOutput;
}

/** Masks secrets as they are, and as tools write them: JSON, URLs, base64, and single lines of a secret. */
export function maskSecrets(secrets: readonly string[]): Masking {
  const written = secrets.filter(secret => secret !== '').flatMap(listForms);
  // Longest first: one may be a part of another.
  const known = [...new Set(written)].sort((a, b) => b.length - a.length);
  // Bytes as Latin-1, because a chunk may end within a character.
  const bytes = known.map(secret => Buffer.from(secret).toString('latin1'));
  const isClean = (link: string) =>
    [link, decodeUrl(link)].every(text => !known.some(secret => text.includes(secret)));
  return {
    text: text => replaceEach(text, known),
    said: ({ message, link, ...others }) => ({
      ...others,
      ...(message !== undefined && { message: replaceEach(message, known) }),
      ...(link !== undefined && isClean(link) && { link }),
    }),
    output: output => maskOutput(output, bytes),
  };
}

/** The masking of an attempt whose secrets cannot be read: nothing that was said is kept. */
export const hideAll: Masking = {
  text: () => leftOut,
  said: ({ message, link: _, ...others }) => ({
    ...others,
    ...(message !== undefined && { message: leftOut }),
  }),
  output: () => ({ write: async () => undefined, isFull: () => true, flush: async () => undefined }),
};

const leftOut = '(left out: the secrets that would be hidden in it cannot be read)';

function listForms(secret: string): string[] {
  const text = secret.toWellFormed();
  const lines = text.split(/\r?\n/).map(line => line.trim());
  const parts = lines.length === 1 ? [] : lines.filter(line => !line.startsWith('-----'));
  const encoded = [...listUrlForms(text), ...listBase64Forms(text.trim())];
  const long = [...parts.flatMap(part => [part, ...listJsonForms(part)]), ...encoded].filter(
    form => form.length >= partCharsMin,
  );
  return [secret, ...listJsonForms(secret), ...long];
}

/** JSON as most tools write it, and as PHP and Python do: with `\/`, and only in ASCII. */
function listJsonForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const forms = [json, json.replaceAll('/', '\\/')];
  return [...forms, ...forms.map(form => form.replaceAll(/[^ -~]/g, toEscape))];
}

function listUrlForms(text: string): string[] {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(
    /[!'()*]/g,
    sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const upper = [component, strict, form, encodeURI(text)];
  return [...upper, ...upper.map(one => one.replaceAll(/%[0-9A-F]{2}/g, code => code.toLowerCase()))];
}

/** The part of its base64 that a secret decides, wherever it begins in what is encoded. */
function listBase64Forms(text: string): string[] {
  return [0, 1, 2].flatMap(before => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const whole = Math.floor((bytes.length * 8) / 6);
    const own = (encoded: string, end?: number) => encoded.slice(Math.ceil((before * 8) / 6), end);
    const encoded = [bytes.toString('base64'), bytes.toString('base64url')];
    return encoded.flatMap(one => [own(one), own(one, whole)]);
  });
}

/** Decodes a URL, however often it was encoded within bounds. */
function decodeUrl(url: string, times = 3): string {
  const decoded = url.replaceAll(/(?:%[0-9a-f]{2})+/gi, codes =>
    Buffer.from(codes.replaceAll('%', ''), 'hex').toString(),
  );
  return decoded === url || times === 1 ? decoded : decodeUrl(decoded, times - 1);
}

function maskOutput(output: RunOutput, bytes: readonly string[]): MaskedOutput {
  let kept = '';
  return {
    write: chunk => {
      if (bytes.length === 0) return output.write(chunk);
      const { done, rest } = replaceComplete(kept + Buffer.from(chunk).toString('latin1'), bytes);
      kept = rest;
      return output.write(Buffer.from(done, 'latin1'));
    },
    isFull: () => output.isFull(),
    flush: async () => {
      const rest = replaceEach(kept, bytes);
      kept = '';
      if (rest !== '') await output.write(Buffer.from(rest, 'latin1'));
    },
  };
}

function replaceEach(text: string, secrets: readonly string[]): string {
  return secrets.reduce((replaced, secret) => replaced.replaceAll(secret, () => mask), text);
}

/** Replaces the secrets in a text that goes on, and keeps back what may be the beginning of one. */
function replaceComplete(
  text: string,
  secrets: readonly string[],
): { readonly done: string; readonly rest: string } {
  let end = text.length - Math.max(0, ...secrets.map(secret => countBegun(text, secret)));
  for (const secret of secrets) {
    // A secret that reaches over the end is complete in this text, so it is taken as a whole.
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1))
      if (at < end && at + secret.length > end) end = at + secret.length;
  }
  return { done: replaceEach(text.slice(0, end), secrets), rest: text.slice(end) };
}

/** The number of characters at the end of a text that may be the beginning of a secret. */
function countBegun(text: string, secret: string): number {
  let length = Math.min(secret.length - 1, text.length);
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length--;
  return length;
}
