import { createHash } from 'node:crypto';
import type { AppliedWebhook, Credential } from '../../schema/applied-state.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { credentialOwner, type Seal } from '../../store/ports/seal.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { findOverlapBeside, isCurrentCredential, mayOverlap } from '../plan/plan.ts';

/** The part of a `Factory` that credentials need. */
interface CredentialDeps {
  readonly name: string;
  readonly store: { readonly seal: Seal };
  readonly now: () => Date;
}

/**
 * Makes the credential of a webhook that is being applied, or keeps the existing one if it is up to date. During an
 * overlap, the one that it replaces stays beside it.
 */
export async function makeCredential(
  { name: factory, store: { seal }, now }: CredentialDeps,
  definition: WebhookDefinition,
  uid: string,
  secret: TeamSecret | undefined,
  existing: AppliedWebhook | undefined,
): Promise<Credential> {
  const { authMode } = definition;
  if (authMode === 'oidc') return { kind: 'issuer' };
  if (existing && isCurrentCredential(existing.credential, authMode, secret)) {
    return mayOverlap(definition, existing) ? existing.credential : withoutPrevious(existing).credential;
  }
  if (!secret?.value) return { kind: 'unset' };
  const { version: secretVersion, text } = secret.value;
  const at = now();
  const until = findOverlapBeside(definition, existing, secret, at.getTime());
  const before = existing?.credential;
  const overlap = until === undefined ? undefined : { since: at.toISOString(), until };
  if (authMode === 'signature') {
    const jwe = await seal.seal(text, credentialOwner(factory, uid));
    const previous = overlap && before?.kind === 'sealed' && { previous: { jwe: before.jwe, ...overlap } };
    return { kind: 'sealed', secretVersion, jwe, ...previous };
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  const previous = overlap &&
    before?.kind === 'digest' && { previous: { sha256: before.sha256, ...overlap } };
  return { kind: 'digest', secretVersion, sha256, ...previous };
}

/** The same webhook without a previous credential, running or ended. */
export function withoutPrevious(webhook: AppliedWebhook): AppliedWebhook {
  const { credential } = webhook;
  if (!('previous' in credential)) return webhook;
  const { previous: _, ...current } = credential;
  return { ...webhook, credential: current };
}
