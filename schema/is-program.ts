/**
 * Whether a text names a program: an absolute path, or a name on PATH. Commands run in directories of their own, so a
 * relative path cannot work.
 */
export function isProgram(text: string): boolean {
  return /^(\/.|[^/]+$)/.test(text);
}
