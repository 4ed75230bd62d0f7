/** @limit Longest name of a team secret, in characters: longer than the variable names that people use for secrets. */
const secretNameCharsMax = 128;

export const secretNamePattern = new RegExp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${secretNameCharsMax - 1}}$`);

/** The pattern in words, to be read after "use" or on its own. */
export const secretNameRule = `1–${secretNameCharsMax} letters, digits, underscores, dots or hyphens; cannot start with a dot or hyphen`;

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
