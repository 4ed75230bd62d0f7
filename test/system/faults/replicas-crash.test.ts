import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openFactory } from '../../../bench/support/factory.ts';
import { query } from '../../support/postgres.ts';
import { databaseName, findServerPrograms, startCluster } from './cluster.ts';
import { type Fault, faults, type Stage } from './faults.ts';
import { findViolations, type Stored } from './find-violations.ts';
import { readHistory, recordHistory } from './history.ts';
import { openNotes } from './notes.ts';
import { startReplica } from './replica.ts';
import { type Sender, startSender } from './sender.ts';
import { waitFor } from './wait-for.ts';

const kinds = Object.keys(faults) as Fault[];
const rounds = Number(process.env.FAULT_ROUNDS ?? kinds.length);
const roundMs = 120_000;
const workers = 16;

// In each round, one fault. Then both replicas must accept deliveries again. At the end, what the sender was told and
// what the runs did is compared with what the database has: a primary server with a synchronous standby.
test('two replicas keep every promise through each kind of fault', {
  timeout: rounds * roundMs,
}, async ({ skip }) => {
  skip(!inject('isLong'), 'npm run test:long does it');
  skip(!findServerPrograms(), 'needs a PostgreSQL server with pg_basebackup');
  const directory = mkdtempSync(join(tmpdir(), 'faults-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const notes = openNotes(directory);
  const { sender, ...stage } = await start(directory, notes);
  for (const [index, fault] of chooseFaults().entries()) {
    await sleep(500 + 500 * Math.random());
    await faults[fault](stage);
    const missing = await findUnrecovered(stage, sender);
    for (const name of missing) notes.addIncident(`replica ${name} after ${fault} in round ${index + 1}`);
  }
  await sender.stop();
  // The runs that have not ended by then are violations.
  await waitFor('the end of all runs', () => areRunsFinished(stage)).catch(() => undefined);
  const made = notes.read();
  expect(made.executions.length).toBeGreaterThan(0);
  const broken = Object.entries(findViolations(made, await readStored(stage.cluster.url())));
  expect(Object.fromEntries(broken.filter(([, cases]) => cases.length > 0))).toEqual({});
});

async function start(
  directory: string,
  notes: ReturnType<typeof openNotes>,
): Promise<Stage & { readonly sender: Sender }> {
  const cluster = await startCluster(join(directory, 'cluster'));
  onTestFinished(cluster.stop);
  const key = randomBytes(32).toString('base64');
  const toStore = (port: number, name: string) => ({
    HOOKMILL_STORE: `postgres://hookmill@127.0.0.1:${port}/${databaseName}?application_name=${name}`,
    HOOKMILL_KEY: key,
  });
  const links = [await cluster.openLink(), await cluster.openLink()];
  const { uid, token } = await makeFactory(join(directory, 'factory'), toStore(links[0]?.port ?? 0, 'setup'));
  await recordHistory(cluster.query);
  const members = await Promise.all(
    links.map(async (link, index) => {
      const name = ['a', 'b'][index] ?? '';
      const replica = await startReplica({
        ...{ name, directory: join(directory, name), environment: toStore(link.port, name) },
        settings: makeSettings(notes.command),
        onEnded: () => notes.addIncident(`replica ${name} ended by itself`),
      });
      onTestFinished(replica.stop);
      await waitFor(`replica ${name}`, replica.isReady);
      return { replica, link };
    }),
  );
  const urls = new Map(
    members.map(({ replica }) => [replica.name, `${replica.ingressUrl}/webhooks/w/${uid}`]),
  );
  const sender = startSender({ urls, token, workers, onAnswer: notes.addAnswer });
  // Also after a failure, before the replicas end: nobody else answers what it waits for.
  onTestFinished(sender.abandon);
  return { cluster, members, sender };
}

function makeSettings(argv: readonly string[]): object {
  return {
    limits: { deliveriesPerMinute: 1_000_000_000 },
    logLevel: 'info',
    runs: {
      runner: { kind: 'command', argv, environment: ['REPLICA'] },
      concurrency: 100,
      attempts: 100,
      backOff: { firstSeconds: 0.1, maxSeconds: 1 },
    },
  };
}

async function makeFactory(directory: string, environment: Readonly<Record<string, string>>) {
  const factory = openFactory(directory, environment);
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

/** Faults in an order of chance, each as often as the others. */
function chooseFaults(): Fault[] {
  const all: Fault[] = [];
  while (all.length < rounds) all.push(...kinds.toSorted(() => Math.random() - 0.5));
  return all.slice(0, rounds);
}

/** Waits until each replica is ready and has acknowledged a delivery. Returns the names of those that did not in time. */
async function findUnrecovered({ members }: Stage, sender: Sender): Promise<string[]> {
  const missing: string[] = [];
  for (const { replica } of members) {
    const before = sender.countAcknowledged(replica.name);
    const isBack = async () => sender.countAcknowledged(replica.name) > before && (await replica.isReady());
    await waitFor(`recovery of ${replica.name}`, isBack).catch(() => missing.push(replica.name));
  }
  return missing;
}

async function areRunsFinished({ cluster }: Stage): Promise<boolean> {
  const { rowCount } = await cluster.query(
    "SELECT FROM hookmill.runs WHERE state IN ('queued', 'running') LIMIT 1",
  );
  return rowCount === 0;
}

async function readStored(url: string): Promise<Stored> {
  const { rows: accepted } = await query(
    url,
    `SELECT id, identity,
      CASE WHEN json ->> 'id' = identity THEN json ->> 'work' END AS work
    FROM (SELECT *, convert_from(payload, 'UTF8')::json AS json FROM hookmill.deliveries WHERE outcome = 'Accepted') AS d`,
  );
  const { rows: runs } = await query(
    url,
    'SELECT id, delivery_id AS "deliveryId", automation, state FROM hookmill.runs',
  );
  return { accepted, runs, history: await readHistory(text => query(url, text)) };
}
