import { isDeepStrictEqual } from 'node:util';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TeamSecrets, TeamSecretUse } from '../../store/team-secrets.ts';

type Verification = Pick<WebhookDefinition, 'authMode' | 'signatureScheme'>;
type Uses = ReadonlyMap<string, readonly TeamSecretUse[]>;

/**
 * Reads who uses each team secret that the factory may use, over all factories. Returns none if the state of a factory
 * cannot be read: what is wrong there must not stop the others.
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

/** Warns about webhooks whose team secret is also used in another way, by these definitions or as it is applied. */
export function findSharedSecretWarnings(
  { webhooks, locate }: Pick<Definitions, 'webhooks' | 'locate'>,
  factory: string,
  applied: Uses,
): Diagnostic[] {
  return webhooks.flatMap((webhook): Diagnostic[] => {
    const { name, secretName } = webhook;
    // The definitions replace the webhooks of this factory.
    const others = (applied.get(secretName) ?? []).filter(
      use => use.factory !== factory || use.webhook === undefined,
    );
    const wanted = webhooks
      .filter(other => other.secretName === secretName)
      .map(other => ({ ...toVerification(other), factory, webhook: other.name }));
    const message = describeOtherUse(webhook, factory, [...wanted, ...others]);
    if (message === undefined) return [];
    const hint = 'give it a secret of its own: one use could help somebody to forge what the other accepts';
    const place = locate('webhook', name, ['secretName']);
    return [{ code: 'secret/shared-by-schemes', severity: 'warning', message, hint, ...place }];
  });
}

/**
 * Describes the first use of the webhook's team secret in another way: with another mode or scheme, or by a repository.
 * Says nothing about other factories but that there is such a use. Undefined if all uses are the same.
 */
export function describeOtherUse(
  webhook: Pick<WebhookDefinition, 'secretName'> & Verification,
  factory: string,
  uses: readonly TeamSecretUse[],
): string | undefined {
  const use = uses.find(use => !isDeepStrictEqual(toVerification(use), toVerification(webhook)));
  if (!use) return undefined;
  const isHere = use.factory === factory;
  const kind = use.webhook === undefined ? 'repository' : 'webhook';
  if (!isHere) return `a ${kind} of another factory also uses ${webhook.secretName}, in another way`;
  if (use.webhook === undefined) return `the repository of this factory also uses ${webhook.secretName}`;
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
