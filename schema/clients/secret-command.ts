import { findScheme } from '../../signatures/schemes.ts';
import type { WebhookDefinition } from '../definitions/webhook-definition.ts';

/** The command that gives the team secret of a webhook a value: a random one, unless the provider issues it. */
export function renderSecretCommand({
  authMode,
  signatureScheme,
  secretName,
}: Pick<WebhookDefinition, 'authMode' | 'signatureScheme' | 'secretName'>): string {
  const isIssued = authMode === 'signature' && findScheme(signatureScheme)?.secretCommand !== 'generate';
  return `hookmill secrets ${isIssued ? 'set' : 'generate'} ${secretName}`;
}
