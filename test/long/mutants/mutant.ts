/** A fault that breaks one promise, and the test that finds it. */
export interface Mutant {
  /** The promise in bold letters in SECURITY.md, or the first words of one in README.md. */
  readonly promise: string;
  /** The test that must fail: `<file>: <title>`. */
  readonly killedBy: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
}

/** Splits `<file>: <title>`. */
export function parseNamedTest(named: string): { readonly file: string; readonly title: string } {
  const at = named.indexOf(': ');
  return { file: named.slice(0, at), title: named.slice(at + 2) };
}
