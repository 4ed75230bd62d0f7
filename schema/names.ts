/** @limit Longest name of a webhook, an automation or a factory, in characters: it then also fits into a DNS label. */
export const nameCharsMax = 63;

const source = `[a-z0-9][a-z0-9-]{0,${nameCharsMax - 1}}`;

/** The form of the names of webhooks, automations and factories. Files and directories are named after them. */
export const namePattern = new RegExp(`^${source}$`);

/** The pattern in words, to be read after "use" or on its own. */
export const nameRule = `1–${nameCharsMax} lowercase letters, digits or hyphens, not starting with a hyphen`;

/** Matches the path of a definition file in the definitions directory. */
const definitionPathPattern = new RegExp(`^(webhooks|automations)/${source}\\.yaml$`);

/** Matches the path of a file below the definitions directory. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no path has one
export const sentPathPattern = /^(?!(?:.*\/)?\.\.?(?:\/|$))[^/\u0000-\u001f]+(?:\/[^/\u0000-\u001f]+)*$/;

/** Matches the path of a file that an export writes: of a definition, or of a fixture that is named after a delivery. */
export const exportedPathPattern = new RegExp(
  `${definitionPathPattern.source}|^automations/${source}\\.fixtures/dlv_[0-9a-z]+\\.json$`,
);

/** Compares by name, by code units, for `sort`. Lists of webhooks, automations and team secrets are in this order. */
export function compareNames(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** Suggests `DEPLOYS_TOKEN` for the webhook `deploys`, or `DEPLOYS_WEBHOOK` if its sender signs. Avoids taken names. */
export function suggestSecretName(
  webhook: string,
  authMode: string,
  taken: ReadonlySet<string> = new Set(),
): string {
  const kind = authMode === 'signature' ? 'WEBHOOK' : 'TOKEN';
  const base = `${webhook.toUpperCase().replaceAll('-', '_')}_${kind}`;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  return name;
}

/** Whether the senders of a webhook share a secret with it. Only with `authMode: oidc` they do not. */
export function hasSecret<W extends { readonly secretName?: string | undefined }>(
  webhook: W,
): webhook is W & { readonly secretName: string } {
  return webhook.secretName !== undefined;
}
