import { hasSecret } from '../../schema/names.ts';
import { Refusal } from '../../schema/refusal.ts';
import { credentialOwner } from '../../store/ports/seal.ts';
import { explainNewValue } from '../branch/new-secret-value.ts';
import { isCurrentCredential } from '../plan/plan.ts';
import type { SenderDeps, SentWebhook } from './open-sender.ts';

/** The credential that a webhook's senders must use now. */
export interface UsedCredential {
  /** Identifies the value. */
  readonly version: string;
  open(): Promise<string>;
}

/**
 * Finds the credential in the applied state: what the daemon verifies with, which the team secret may no longer be. Fails with
 * `sender-not-ready` if the webhook accepts no delivery, or if its team secret has a newer value: whoever gave it one wants
 * the provider to have it.
 */
export async function findUsedCredential(
  { factory }: SenderDeps,
  webhook: SentWebhook,
): Promise<UsedCredential> {
  const { name, store } = factory;
  const { credential, authMode, enabled, uid } = webhook;
  const refuse = (detail: string) => new Refusal('sender-not-ready', { detail });
  if (!enabled)
    throw refuse(`the webhook ${webhook.name} is disabled, so it accepts no delivery; enable it first`);
  if (!hasSecret(webhook)) throw refuse(`the webhook ${webhook.name} has no secret to give to its provider`);
  const { secretName } = webhook;
  if (credential.kind !== 'sealed') {
    const next = await explainNewValue(factory);
    throw refuse(
      `the webhook ${webhook.name} has no secret yet: set one with \`hookmill secrets set ${secretName}\`. ${next}`,
    );
  }
  const secret = (await store.teamSecrets.open([secretName], name)).get(secretName);
  // A value that cannot be read where it is kept is not known to be newer, and one that is gone is not newer.
  if (secret?.value && !isCurrentCredential(credential, authMode, secret)) {
    const next = await explainNewValue(factory);
    throw refuse(
      `the team secret ${secretName} has a newer value than the webhook ${webhook.name} uses. ${next} Then register again`,
    );
  }
  const { jwe, secretVersion: version } = credential;
  return { version, open: () => store.seal.open(jwe, credentialOwner(name, uid)) };
}
