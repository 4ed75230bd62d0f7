import { isDeepStrictEqual } from 'node:util';
import type { Confirmation } from '../../schema/changes/plan-shapes.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { hasSecret } from '../../schema/names.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import type { TeamSecrets, TeamSecretUse } from '../../store/ports/team-secrets.ts';

type Verification = Pick<WebhookDefinition, 'authMode' | 'signatureScheme'>;
type Uses = ReadonlyMap<string, readonly TeamSecretUse[]>;

/**
 * Reads who uses each team secret that the factory may use, over all factories. Returns none if the state of a factory
 * cannot be read: a problem there must not stop the others.
 */
export async function readSecretUses(teamSecrets: TeamSecrets, factory: string): Promise<Uses> {
  try {
    const secrets = (await teamSecrets.list()).filter(
      ({ factories }) => factories === null || factories.includes(factory),
    );
    return new Map(secrets.map(({ name, usedBy }) => [name, usedBy]));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return new Map();
  }
}

/** Finds the webhooks whose team secret is also used in another way, by these definitions or as it is applied. */
export function findSharedSecrets(
  { webhooks }: Pick<Definitions, 'webhooks'>,
  factory: string,
  applied: Uses,
): ReadonlyMap<string, Confirmation> {
  const sent = webhooks.flatMap(({ name, sender }) => {
    if (!sender) return [];
    const { credentialSecret: secretName } = sender;
    const here = webhooks
      .filter(other => hasSecret(other) && other.secretName === secretName)
      .map(other => ({ factory, webhook: other.name }));
    const elsewhere = (applied.get(secretName) ?? []).filter(
      use => use.factory !== factory && use.webhook !== undefined && !use.isCredential,
    );
    const [use] = [...elsewhere, ...here];
    return use ? [[name, confirmSent(secretName, use, use.factory !== factory)] as const] : [];
  });
  const found = webhooks.filter(hasSecret).map(webhook => {
    const { name, secretName } = webhook;
    // The definitions replace the webhooks of this factory.
    const others = (applied.get(secretName) ?? []).filter(
      use => use.factory !== factory || use.webhook === undefined,
    );
    const wanted = webhooks
      .filter(other => other.secretName === secretName)
      .map(other => ({ ...toVerification(other), factory, webhook: other.name }));
    const asking = webhooks
      .filter(({ sender }) => sender?.credentialSecret === secretName)
      .map(other => ({ factory, webhook: other.name, isCredential: true as const }));
    return [name, findOtherUse(webhook, factory, [...wanted, ...asking, ...others])] as const;
  });
  return new Map([...sent, ...found.flatMap(([name, use]) => (use ? [[name, use] as const] : []))]);
}

/** Reports the webhooks that use their team secret in another way than others. */
export function makeSharedSecretDiagnostics(
  shared: ReadonlyMap<string, Confirmation>,
  { locate }: Pick<Definitions, 'locate'>,
  severity: Diagnostic['severity'],
): Diagnostic[] {
  const hint = 'give it a secret of its own: one use could help somebody to forge what the other accepts';
  return [...shared].map(([name, { message }]) => {
    const place = locate('webhook', name, ['secretName']);
    return { code: 'secret/shared-by-schemes', severity, message, hint, ...place };
  });
}

/**
 * Finds a use of the webhook's team secret in another way: with another mode or scheme, or by a repository. Prefers one
 * of another factory, and says nothing about it but that there is one. Undefined if all uses are the same.
 */
export function findOtherUse(
  webhook: Pick<WebhookDefinition, 'secretName'> & Verification,
  factory: string,
  uses: readonly TeamSecretUse[],
): Confirmation | undefined {
  const others = uses.filter(use => !isDeepStrictEqual(toVerification(use), toVerification(webhook)));
  const use = others.find(use => use.factory !== factory) ?? others[0];
  if (!use) return undefined;
  const isElsewhere = use.factory !== factory;
  return {
    reason: isElsewhere ? 'other-factory' : 'shared-secret',
    message: describeUse(use, webhook, isElsewhere),
  };
}

/** Says that a webhook sends the secret of another webhook to its provider, as its credential. */
function confirmSent(secretName: string, { webhook }: TeamSecretUse, isElsewhere: boolean): Confirmation {
  const other = isElsewhere ? 'a webhook of another factory' : `the webhook ${webhook}`;
  return {
    reason: isElsewhere ? 'other-factory' : 'shared-secret',
    message: `its provider gets ${secretName} as the credential, which is the secret of ${other}`,
  };
}

function describeUse(
  use: TeamSecretUse,
  webhook: Pick<WebhookDefinition, 'secretName'> & Verification,
  isElsewhere: boolean,
): string {
  const kind = use.webhook === undefined ? 'repository' : 'webhook';
  if (isElsewhere) return `a ${kind} of another factory also uses ${webhook.secretName}, in another way`;
  if (use.webhook === undefined) return `the repository of this factory also uses ${webhook.secretName}`;
  if (use.isCredential) {
    return `the webhook ${use.webhook} also sends ${webhook.secretName} to its provider, as its credential`;
  }
  const instead = `with ${nameVerification(use)} instead of ${nameVerification(webhook)}`;
  return `the webhook ${use.webhook} also uses ${webhook.secretName}, ${instead}`;
}

function toVerification({ authMode, signatureScheme }: Partial<Verification>): Partial<Verification> {
  return { ...(authMode && { authMode }), ...(signatureScheme !== undefined && { signatureScheme }) };
}

function nameVerification({ authMode, signatureScheme }: Partial<Verification>): string {
  if (signatureScheme === undefined) return `authMode ${authMode}`;
  return typeof signatureScheme === 'string' ? `the scheme ${signatureScheme}` : 'a custom scheme';
}
