import { createHash } from 'node:crypto';
import type { AppliedWebhook, Credential } from '../../schema/applied-state.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import { credentialOwner, type Seal } from '../../store/ports/seal.ts';
import type { TeamSecret } from '../../store/ports/team-secrets.ts';
import { isCurrentCredential } from '../plan/plan.ts';

/** Makes the credential of a webhook that is being applied, or keeps the existing one if it is up to date. */
export async function makeCredential(
  factory: string,
  seal: Seal,
  { authMode }: WebhookDefinition,
  uid: string,
  secret: TeamSecret | undefined,
  existing: AppliedWebhook | undefined,
): Promise<Credential> {
  if (authMode === 'oidc') return { kind: 'issuer' };
  if (existing && isCurrentCredential(existing.credential, authMode, secret)) return existing.credential;
  if (!secret?.value) return { kind: 'unset' };
  const { version: secretVersion, text } = secret.value;
  if (authMode === 'signature') {
    return { kind: 'sealed', secretVersion, jwe: await seal.seal(text, credentialOwner(factory, uid)) };
  }
  return { kind: 'digest', secretVersion, sha256: createHash('sha256').update(text).digest('hex') };
}
