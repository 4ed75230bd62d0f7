/** The keys of a webhook that say where its sender puts the token, as a definition or an answer has them. */
export interface TokenKeys {
  readonly tokenHeader?: string | null | undefined;
  readonly tokenPrefix?: string | null | undefined;
  readonly tokenScheme?: 'bearer' | 'basic' | null | undefined;
  readonly tokenUser?: string | null | undefined;
}

/** The header in which the sender puts the token, and the text before it. */
export function findTokenPlace({ tokenHeader, tokenPrefix, tokenScheme }: TokenKeys) {
  const prefix = tokenScheme === 'basic' ? 'Basic ' : 'Bearer ';
  return tokenHeader == null
    ? { header: 'Authorization', prefix }
    : { header: tokenHeader, prefix: tokenPrefix ?? '' };
}

/** Names the place of the token, for people: `Authorization: Bearer`. */
export function describeTokenPlace(webhook: TokenKeys): string {
  const { header, prefix } = findTokenPlace(webhook);
  const user = webhook.tokenScheme === 'basic' ? `, as the password of ${webhook.tokenUser}` : '';
  return `${header}: ${prefix}`.trim() + user;
}

/** The option of curl that sends the token in a variable of the shell. */
export function renderTokenOption(webhook: TokenKeys, variable: string): string {
  const { header, prefix } = findTokenPlace(webhook);
  const [option, text] =
    webhook.tokenScheme === 'basic' ? ['-u', `${webhook.tokenUser}:`] : ['-H', `${header}: ${prefix}`];
  return `${option} "${text.replaceAll(/["$\\`]/g, String.raw`\$&`)}$${variable}"`;
}
