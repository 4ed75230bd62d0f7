import { Refusal } from '../../schema/refusal.ts';
import { isOnlyFor } from '../../store/ports/team-secrets.ts';
import type { SecretWebhook } from '../checks/secret-diagnostics.ts';
import type { Factory } from '../factory.ts';

/** Refuses to replace a team secret for one webhook, if the value is kept elsewhere, if another webhook uses the team secret too, or if another factory may. */
export async function requireSoleUse(
  { store, name }: Pick<Factory, 'store' | 'name'>,
  webhook: SecretWebhook,
): Promise<void> {
  const secret = (await store.teamSecrets.list()).find(secret => secret.name === webhook.secretName);
  if (!secret) return;
  if (secret.from !== undefined) {
    throw new Refusal('secret-referenced', {
      detail: `the value of the team secret ${webhook.secretName} is kept at ${secret.from}`,
      instead: { text: 'change it there, then disable and enable the webhook' },
    });
  }
  const here = secret.usedBy.filter(use => use.factory === name && use.webhook !== webhook.name);
  const isShared = !isOnlyFor(secret.factories, name, await store.appliedStates.listFactories());
  if (here.length === 0 && !isShared) return;
  const users = here.map(use => use.webhook ?? 'the repository');
  const others = [...users, ...(isShared ? ['other factories'] : [])].join(', ');
  throw new Refusal('secret-shared', {
    detail: `the team secret ${webhook.secretName} is not only for this webhook, but also for: ${others}`,
    instead: {
      text: `set a new value with \`hookmill secrets set ${webhook.secretName}\`, then disable and enable each webhook`,
    },
  });
}
