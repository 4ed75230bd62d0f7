import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { WebhookSender } from '../../schema/definitions/sender-keys.ts';
import type { OwnBaseUrl } from '../../schema/ingress-url.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { SenderProblem } from '../../schema/sender.ts';
import { createProviderClient } from '../../senders/create-client.ts';
import { type ProviderClient, ProviderError } from '../../senders/provider-client.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import type { OpenFactory } from '../factory.ts';

/** @limit Time in which a provider must answer all requests of one operation, in ms: commands wait for 30 s. */
const providerMs = 25_000;

/** Everything that operations on senders need. */
export interface SenderDeps {
  readonly factory: OpenFactory;
  readonly ownBaseUrl: OwnBaseUrl;
  /** Lets other operations run while this one waits for a provider. */
  readonly waitOutside: ReadOutside;
}

/** A webhook whose definition says where its provider has the hook. */
export type SentWebhook = AppliedWebhook & { readonly sender: WebhookSender };

/** Fails with `sender-missing` if the definition of the webhook names none. */
export function requireSender(webhook: AppliedWebhook): SentWebhook {
  const { name, sender } = webhook;
  if (sender) return { ...webhook, sender };
  const detail = `the webhook ${name} has no sender; add \`sender\` to its definition, which says where the provider has the hook`;
  throw new Refusal('sender-missing', { detail });
}

/** Why a provider cannot be asked, though that is not its failure, and what to do. The message says both. */
export class SenderUnusable extends Error {
  override readonly name = 'SenderUnusable';
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason}. ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/**
 * Opens the API of a webhook's provider with the credential that the definition names. Fails with `SenderUnusable` if the
 * credential has no value, or if the operator has not listed the provider's address: a definition alone must not decide
 * where a credential is sent.
 */
export async function openSender(
  { factory: { name, store, now } }: SenderDeps,
  { sender, signatureScheme }: Pick<SentWebhook, 'sender' | 'signatureScheme'>,
): Promise<ProviderClient> {
  const { credentialSecret, url } = sender;
  const { senderUrls = [] } = (await store.daemonAddress.read()) ?? {};
  if (url !== undefined && !senderUrls.some(listed => isSameAddress(listed, url))) {
    const remedy =
      'The operator adds it to `senders.urls` in the configuration file of the daemon, and starts the daemon again.';
    throw new SenderUnusable(`the address ${url} may not get a credential`, remedy);
  }
  const secret = (await store.teamSecrets.open([credentialSecret], name)).get(credentialSecret);
  const credential = secret?.value?.text;
  if (credential === undefined) {
    const { message, hint } = secret?.unresolved ?? {
      message: `the team secret ${credentialSecret} has no value that may be used`,
      hint: `set it with \`hookmill secrets set ${credentialSecret}\``,
    };
    throw new SenderUnusable(message, `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`);
  }
  return createProviderClient(sender, credential, {
    isTrusted: url !== undefined,
    secretKind: signatureScheme === 'gitlab-signing-token' ? 'signing-token' : 'token',
    stopping: AbortSignal.timeout(providerMs),
    nowMs: () => now().getTime(),
  });
}

function isSameAddress(a: string, b: string): boolean {
  const trim = (text: string) => new URL(text).href.replace(/\/+$/, '');
  return URL.canParse(a) && URL.canParse(b) && trim(a) === trim(b);
}

/** Why a provider could not be asked; rethrows every other error. */
export function toSenderProblem(error: unknown): SenderProblem {
  if (error instanceof ProviderError) return { code: error.code, message: error.message, remedy: null };
  if (error instanceof SenderUnusable) {
    const { reason: message, remedy } = error;
    return { code: 'unusable', message, remedy };
  }
  throw error;
}

/**
 * The wait in ms that a provider asks for, because a rate limit is reached. Every other reason why it could not be asked fails
 * with `sender-failed`.
 */
export function waitOrRefuse(error: unknown): number {
  if (!(error instanceof ProviderError) && !(error instanceof SenderUnusable)) throw error;
  if ('retryAfterMs' in error && error.retryAfterMs !== undefined) return error.retryAfterMs;
  throw new Refusal('sender-failed', { detail: error.message }, { cause: error });
}
