import type { Diagnostic } from '../schema/diagnostics.ts';

/** Adds better hints to diagnostics about invalid UIDs, if `hintFor` has one for the text that was written. */
export function withWebhookIdHints(
  diagnostics: readonly Diagnostic[],
  texts: ReadonlyMap<string, string>,
  hintFor: (written: string) => string | undefined,
): Diagnostic[] {
  return diagnostics.map(diagnostic => {
    const { code, file, range } = diagnostic;
    if (code !== 'automation/webhook-id' || !range) return diagnostic;
    const line = texts.get(file)?.split('\n')[range.start.line - 1] ?? '';
    const written = line.slice(range.start.column - 1, range.end.column - 1).replace(/^(["'])(.*)\1$/, '$2');
    const hint = hintFor(written);
    return hint === undefined ? diagnostic : { ...diagnostic, hint };
  });
}

/** Reads the webhook's name from a name or a file name, as in `deploys` or `webhooks/deploys.yaml`. */
export function parseWebhookName(written: string): string {
  return written.replace(/^webhooks\//, '').replace(/\.yaml$/, '');
}
