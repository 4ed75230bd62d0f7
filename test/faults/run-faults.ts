// Puts two replicas on one PostgreSQL under load, injects one fault in each round, and waits until both replicas accept
// deliveries again. Then has `bench/check-faults.ts` compare what the sender was told with what the database has; the
// exit status is 1 if a promise was broken. The database is a primary server with a synchronous standby, from the
// programs of an installed PostgreSQL.
// Usage: npm run faults [-- --rounds 200 --workers 16 --only failover --directory DIRECTORY]
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { databaseName, startCluster } from './cluster.ts';
import { type Fault, faults, type Member, type Stage } from './faults.ts';
import { recordHistory } from './history.ts';
import { openNotes } from './notes.ts';
import { type Replica, startReplica } from './replica.ts';
import { type Sender, startSender } from './sender.ts';
import { waitFor } from './wait-for.ts';
import { openFactory } from '../../bench/support/factory.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    workers: { type: 'string', default: '16' },
    only: { type: 'string' },
    directory: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'faults-'));
mkdirSync(directory, { recursive: true });
const notes = openNotes(directory);
const incident = (what: string) => {
  console.log(what);
  notes.addIncident({ what });
};

const many = 1_000_000_000;
const settings = {
  limits: { deliveriesPerMinute: many },
  logLevel: 'info',
  runs: {
    runner: { kind: 'command', argv: notes.command, environment: ['REPLICA'] },
    concurrency: 100,
    attempts: 100,
    backOff: { firstSeconds: 0.1, maxSeconds: 1 },
  },
};

const cluster = await startCluster(join(directory, 'cluster'));
const replicas: Replica[] = [];
const stopReplicas = () => Promise.all(replicas.map(replica => replica.stop()));
try {
  const { members, sender } = await start();
  for (const [index, fault] of chooseFaults().entries()) {
    await runRound(`round ${index + 1} of ${rounds}: ${fault}`, fault, { cluster, members }, sender);
  }
  await sender.stop();
  // The checker shows the runs that have not ended by then.
  await waitFor('the end of all runs', areRunsFinished).catch(() => undefined);
  await stopReplicas();
  process.exitCode = await check();
} finally {
  await stopReplicas();
  await cluster.stop();
}
if (process.exitCode) console.log(`the notes are in ${directory}`);
else rmSync(directory, { recursive: true });

async function start(): Promise<{ readonly members: readonly Member[]; readonly sender: Sender }> {
  const key = randomBytes(32).toString('base64');
  const toStore = (port: number, name: string) => ({
    HOOKMILL_STORE: `postgres://hookmill@127.0.0.1:${port}/${databaseName}?application_name=${name}`,
    HOOKMILL_KEY: key,
  });
  const links = new Map([
    ['a', await cluster.openLink()],
    ['b', await cluster.openLink()],
  ]);
  const [port = 0] = [...links.values()].map(link => link.port);
  const factory = openFactory(join(directory, 'factory'), toStore(port, 'setup'));
  const { uid, token } = await makeFactory(factory);
  await recordHistory(cluster.query);
  const members: Member[] = [];
  for (const [name, link] of links) {
    const replica = await startReplica({
      ...{ name, directory: join(directory, name), environment: toStore(link.port, name) },
      settings,
      onEnded: () => incident(`replica ${name} ended by itself`),
    });
    replicas.push(replica);
    members.push({ replica, link });
  }
  for (const { replica } of members) await waitFor(`replica ${replica.name}`, replica.isReady);
  const urls = new Map(
    members.map(({ replica }) => [replica.name, `${replica.ingressUrl}/webhooks/w/${uid}`]),
  );
  const sender = startSender({ urls, token, workers: Number(values.workers), onAnswer: notes.addAnswer });
  return { members, sender };
}

async function makeFactory(factory: ReturnType<typeof openFactory>) {
  factory.write('webhooks/load.yaml', 'secretName: LOAD\n');
  const token = await factory.hookmill('secrets', 'generate', 'LOAD');
  const uid = (await factory.apply()).get('load') ?? '';
  const automations = { quick: ['quick', 'slow'], slow: ['slow'] };
  for (const [name, work] of Object.entries(automations)) {
    const filter = { webhook_ids: [uid], payload: { work } };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    factory.write(`automations/${name}.yaml`, JSON.stringify({ prompt: 'Note it.', triggers }));
  }
  await factory.apply();
  return { uid, token };
}

/** Rounds in an order of chance, in which each fault comes as often as the others. */
function chooseFaults(): Fault[] {
  const names = (Object.keys(faults) as Fault[]).filter(name => name === (values.only ?? name));
  const all: Fault[] = [];
  while (all.length < rounds) all.push(...names.toSorted(() => Math.random() - 0.5));
  return all.slice(0, rounds);
}

async function runRound(title: string, fault: Fault, stage: Stage, sender: Sender): Promise<void> {
  await sleep(500 + 500 * Math.random());
  await faults[fault](stage);
  const overMs = performance.now();
  try {
    for (const { replica } of stage.members) {
      const before = sender.countAcknowledged(replica.name);
      await waitFor(
        `recovery of replica ${replica.name}`,
        async () => sender.countAcknowledged(replica.name) > before && (await replica.isReady()),
      );
    }
    console.log(`${title}, recovered after ${((performance.now() - overMs) / 1_000).toFixed(1)} s`);
  } catch (error) {
    incident(`${title}: ${error}`);
  }
}

async function areRunsFinished(): Promise<boolean> {
  const { rowCount } = await cluster.query(
    "SELECT FROM hookmill.runs WHERE state IN ('queued', 'running') LIMIT 1",
  );
  return rowCount === 0;
}

async function check(): Promise<number> {
  const checker = join(import.meta.dirname, 'check-faults.ts');
  const child = spawn(process.execPath, [checker, directory], {
    stdio: 'inherit',
    env: { ...process.env, HOOKMILL_STORE: cluster.url() },
  });
  const [status] = await once(child, 'exit');
  return status ?? 1;
}
