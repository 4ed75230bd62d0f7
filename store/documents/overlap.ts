import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { StoreError } from '../ports/store-error.ts';
import type { TeamSecretUse } from '../ports/team-secrets.ts';

/** A use of a team secret, with the webhook as it is applied; absent for the repository. */
export interface StoredUse {
  readonly use: TeamSecretUse;
  readonly webhook?: AppliedWebhook;
}

/** A new value that is to overlap with the one before. */
interface OverlapWanted {
  readonly name: string;
  /** The version of the new value. */
  readonly version: string;
  readonly uses: readonly StoredUse[];
}

/**
 * Finds the version of a team secret that stays valid beside a new value: the one that its enabled webhooks have in force,
 * whatever was set since they were applied. Fails with `secret-overlap` if they cannot have an overlap, have one that is
 * running, or do not agree on one value.
 */
export function findOverlapped({ name, version, uses }: OverlapWanted): string {
  const refuse = (message: string) => new StoreError('secret-overlap', message);
  const other = uses.find(({ use }) => use.authMode !== 'token' && use.authMode !== 'signature');
  if (other) {
    const { factory, webhook, isCredential } = other.use;
    const user = webhook ? `webhook ${webhook}` : 'repository';
    const why = webhook && !isCredential ? 'in its URL' : 'which reads it each time that it is needed';
    throw refuse(
      `the ${user} of the factory ${factory} uses the team secret ${name}, ${why}: no overlap is possible. Set it without --overlap`,
    );
  }
  const running = uses.find(({ use }) => use.previousUntil !== undefined);
  if (running) {
    throw refuse(
      `the webhook ${running.use.webhook} of the factory ${running.use.factory} accepts the previous value of ${name} until ${running.use.previousUntil}. Wait, or end that overlap with \`hookmill secrets set ${name} --end\``,
    );
  }
  const inForce = uses.flatMap(({ webhook }) => (webhook?.enabled ? findVersion(webhook) : []));
  const [overlapped, ...others] = new Set(inForce);
  if (overlapped === undefined) {
    throw refuse(
      `no enabled webhook uses a value of the team secret ${name} yet, so there is none to keep. Set it without --overlap`,
    );
  }
  if (others.length > 0) {
    const users = uses.map(({ use }) => `${use.factory}/${use.webhook}`).join(', ');
    throw refuse(
      `the webhooks that use the team secret ${name} (${users}) have different values of it. Apply them all first`,
    );
  }
  if (overlapped === version) {
    throw refuse(`the value of ${name} is the one that its webhooks use already. Give the new one`);
  }
  return overlapped;
}

function findVersion({ credential }: AppliedWebhook): string | [] {
  return 'secretVersion' in credential ? credential.secretVersion : [];
}
