import { createHash } from 'node:crypto';
import type { AppliedWebhook, Credential } from '../schema/applied-state.ts';
import type { AuthMode } from '../schema/auth-mode.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import { credentialOwner, type Seal } from '../store/seal.ts';
import type { TeamSecret } from '../store/team-secrets.ts';

/** Whether the credential in force is the team secret's current value, kept in the form that the mode needs. */
export function isCurrentCredential(
  credential: Credential,
  authMode: AuthMode,
  secret: TeamSecret | undefined,
): boolean {
  if (credential.kind === 'unset') return secret?.value === undefined;
  const kind = authMode === 'signature' ? 'sealed' : 'digest';
  return credential.kind === kind && credential.secretVersion === secret?.value?.version;
}

/** The credential in force of a webhook whose definition applies now: the existing one while it is still right. */
export async function makeCredential(
  factory: string,
  seal: Seal,
  { authMode }: WebhookDefinition,
  uid: string,
  secret: TeamSecret | undefined,
  existing: AppliedWebhook | undefined,
): Promise<Credential> {
  if (existing && isCurrentCredential(existing.credential, authMode, secret)) return existing.credential;
  if (!secret?.value) return { kind: 'unset' };
  const { version: secretVersion, text } = secret.value;
  if (authMode === 'signature') {
    return { kind: 'sealed', secretVersion, jwe: await seal.seal(text, credentialOwner(factory, uid)) };
  }
  return { kind: 'digest', secretVersion, sha256: createHash('sha256').update(text).digest('hex') };
}
