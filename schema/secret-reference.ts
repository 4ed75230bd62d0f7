import { parseJsonText } from '../json/parse-json-text.ts';

/** The form of the names of environment variables. */
export const variableNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @limit Longest reference to the value of a team secret, in characters: a path, or a command with its arguments. */
const referenceCharsMax = 1_024;

/** The place where the value of a team secret is kept. */
export type SecretReference =
  | { readonly kind: 'env'; readonly variable: string }
  | { readonly kind: 'file'; readonly path: string }
  /** A command that prints the value, run without a shell. */
  | { readonly kind: 'exec'; readonly argv: readonly [string, ...string[]] };

/** The forms of a reference, to be read after "use". */
export const secretReferenceRule =
  'env:NAME, file:/absolute/path, exec:program argument, or exec:["program", "an argument with spaces"]; HOOKMILL_ variables cannot be used';

/** Parses `env:…`, `file:…` or `exec:…`; undefined if the text is none of them. */
export function parseSecretReference(text: string): SecretReference | undefined {
  const [, kind, rest = ''] = /^(env|file|exec):(\P{Cc}+)$/u.exec(text) ?? [];
  if (text.length > referenceCharsMax) return undefined;
  if (kind === 'env') return isPassedVariable(rest) ? { kind, variable: rest } : undefined;
  if (kind === 'file') return rest.startsWith('/') ? { kind, path: rest } : undefined;
  const [program, ...args] = kind === 'exec' ? splitCommand(rest) : [];
  return program && isProgram(program) ? { kind: 'exec', argv: [program, ...args] } : undefined;
}

/** Splits at spaces. Arguments with characters that a shell would interpret need the form of a JSON array. */
function splitCommand(text: string): string[] {
  if (!text.startsWith('[')) return /["'`\\$|;&<>*?]/.test(text) ? [] : text.trim().split(/ +/);
  try {
    const words: unknown = parseJsonText(text);
    return Array.isArray(words) && words.every(word => typeof word === 'string') ? words : [];
  } catch {
    return [];
  }
}

/**
 * Whether a text names a program: an absolute path, or a name on PATH. Commands run in directories of their own, so a
 * relative path cannot work.
 */
export function isProgram(text: string): boolean {
  return /^(\/.|[^/]+$)/.test(text);
}

/** Whether a text names a variable that commands may get. The variables of hookmill itself hold its key, among others. */
export function isPassedVariable(text: string): boolean {
  return variableNamePattern.test(text) && !text.startsWith('HOOKMILL_');
}
