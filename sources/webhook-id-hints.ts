import type { Diagnostic } from '../schema/diagnostics.ts';

/** Adds better hints to diagnostics about invalid UIDs, if `hintFor` has one for the text that was written. */
export function withWebhookIdHints(
  diagnostics: readonly Diagnostic[],
  texts: ReadonlyMap<string, string>,
  hintFor: (written: string) => string | undefined,
): Diagnostic[] {
  const lines = new Map<string, readonly string[]>();
  const readLine = (file: string, line: number) => {
    const known = lines.get(file) ?? texts.get(file)?.split('\n') ?? [];
    lines.set(file, known);
    return known[line - 1] ?? '';
  };
  return diagnostics.map(diagnostic => {
    const { code, file, range } = diagnostic;
    if (code !== 'automation/webhook-id' || !range) return diagnostic;
    const line = readLine(file, range.start.line);
    const written = line.slice(range.start.column - 1, range.end.column - 1).replace(/^(["'])(.*)\1$/, '$2');
    const hint = hintFor(written);
    return hint === undefined ? diagnostic : { ...diagnostic, hint };
  });
}

/** Reads the webhook's name from a name or a file name, as in `deploys` or `webhooks/deploys.yaml`. */
export function parseWebhookName(written: string): string {
  return written.replace(/^webhooks\//, '').replace(/\.yaml$/, '');
}
