import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { Link } from './link.ts';
import type { Replica } from './replica.ts';

/** A replica, and the link by which it reaches the database. */
export interface Member {
  readonly replica: Replica;
  readonly link: Link;
}

export interface Stage {
  readonly cluster: Cluster;
  readonly members: readonly Member[];
}

/** A replica's runs belong to others after 10 s. */
const pastLeaseMs = 12_500;

/** Each returns when the fault is over; what recovers does so after that. */
export const faults = {
  kill: async ({ members }) => pick(members).replica.kill(),
  pause: async ({ members }) => {
    const { replica } = pick(members);
    replica.signal('SIGSTOP');
    await sleep(pastLeaseMs);
    replica.signal('SIGCONT');
  },
  'terminate all backends': stage => terminateBackends(stage, 1),
  'terminate some backends': stage => terminateBackends(stage, 0.3),
  'restart fast': ({ cluster }) => cluster.restart('fast', () => upTo(5_000)),
  'restart immediate': ({ cluster, members }) =>
    cluster.restart('immediate', async () => {
      // One replica has to start while there is no database.
      await pick(members).replica.kill();
      await upTo(5_000);
    }),
  blackhole: async ({ members }) => {
    const { link } = pick(members);
    link.cut('blackhole');
    await upTo(pastLeaseMs);
    const chance = Math.random();
    if (chance < 0.3) link.forget();
    if (chance > 0.7) link.cut('reset');
    link.heal();
  },
  reset: async ({ members }) => {
    const cut = Math.random() < 0.5 ? members : [pick(members)];
    for (const { link } of cut) link.cut('reset');
    await upTo(5_000);
    for (const { link } of cut) link.heal();
  },
  failover: async stage => {
    // The standby falls behind. A commit that waits for it must not be confirmed in any other way.
    stage.cluster.standbyLink.cut('blackhole');
    await upTo(1_000);
    if (Math.random() < 0.5) await terminateBackends(stage, 1);
    await stage.cluster.failOver();
  },
} satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;

export type Fault = keyof typeof faults;

/** Several times, because a statement lasts only for moments. */
async function terminateBackends({ cluster, members }: Stage, share: number): Promise<void> {
  const names = members.map(({ replica }) => replica.name);
  for (let times = 0; times < 5; times++) {
    await cluster.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ANY ($1) AND random() < $2',
      [names, share],
    );
    await upTo(200);
  }
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

function upTo(ms: number): Promise<void> {
  return sleep(ms * Math.random());
}
