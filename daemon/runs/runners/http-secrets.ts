import type { RunSaid } from '../../../schema/run-report.ts';
import type { RunOutput } from '../../../store/ports/run-files.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { AttemptResult } from './runner.ts';

/** The text that replaces a secret in the answer of a receiver. */
const mask = '[secret]';

type Unopened = Extract<AttemptResult, { kind: 'failed' | 'retry' }>;

/**
 * Opens the team secrets of a runner for the factory of a run, by name. If one has no value that the factory may use,
 * says so as the result of the attempt, with the remedy.
 */
export async function openSecrets(
  names: readonly string[],
  factory: string,
  store: Pick<Store, 'teamSecrets'>,
): Promise<ReadonlyMap<string, string> | Unopened> {
  const values = new Map<string, string>();
  if (names.length === 0) return values;
  const opened = await store.teamSecrets.open(new Set(names), factory);
  for (const name of names) {
    const secret = opened.get(name);
    if (secret?.forbiddenTo !== undefined) {
      const remedy = `\`hookmill secrets share ${name} ${factory}\` allows it`;
      return {
        kind: 'failed',
        reason: `the factory ${factory} may not use the team secret ${name}; ${remedy}`,
      };
    }
    // Where the value is kept may be out of reach only now.
    if (secret?.unresolved) {
      const { message, hint } = secret.unresolved;
      return { kind: 'retry', reason: `${message}; ${hint}` };
    }
    if (!secret?.value?.text) {
      const remedy = `set it with \`hookmill secrets set ${name}\`, then retry the run`;
      return { kind: 'failed', reason: `the team secret ${name} has no value; ${remedy}` };
    }
    values.set(name, secret.value.text);
  }
  return values;
}

/** Output in which secrets are replaced. `flush` writes what may have been the beginning of one. */
export interface MaskedOutput extends Pick<RunOutput, 'write' | 'isFull'> {
  flush(): Promise<void>;
}

export interface Masking {
  /** Replaces each secret in a text. */
  text(text: string): string;
  /** Replaces each secret in a message. Leaves out a link with a secret, because it would lead elsewhere without it. */
  said(said: RunSaid): RunSaid;
  /** Replaces each secret in what is written to an output, also one that arrives in pieces. */
  output(output: RunOutput): MaskedOutput;
}

/** Replaces secrets in what is kept of an answer: as they are, and as JSON writes them. */
export function maskSecrets(secrets: readonly string[]): Masking {
  const written = secrets.flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1)]);
  // Longest first: one may be a part of another.
  const known = [...new Set(written)].filter(secret => secret !== '').sort((a, b) => b.length - a.length);
  // Bytes as Latin-1, because a chunk may end within a character.
  const bytes = known.map(secret => Buffer.from(secret).toString('latin1'));
  return {
    text: text => replaceEach(text, known),
    said: ({ message, link, ...others }) => ({
      ...others,
      ...(message !== undefined && { message: replaceEach(message, known) }),
      ...(link !== undefined && replaceEach(link, known) === link && { link }),
    }),
    output: output => {
      if (bytes.length === 0)
        return {
          write: chunk => output.write(chunk),
          isFull: () => output.isFull(),
          flush: async () => undefined,
        };
      let kept = '';
      return {
        write: chunk => {
          const { done, rest } = replaceComplete(kept + Buffer.from(chunk).toString('latin1'), bytes);
          kept = rest;
          return output.write(Buffer.from(done, 'latin1'));
        },
        isFull: () => output.isFull(),
        flush: () => {
          const rest = replaceEach(kept, bytes);
          kept = '';
          return output.write(Buffer.from(rest, 'latin1'));
        },
      };
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
