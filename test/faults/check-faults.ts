// Compares what the sender of `bench/faults.ts` was told with what the database has, and prints what breaks a promise.
// Its exit status is 1 if there is anything. The URL of the database is in HOOKMILL_STORE.
// Usage: node bench/check-faults.ts DIRECTORY
import { parseArgs } from 'node:util';
import { query } from '../support/postgres.ts';
import { findViolations, type Stored } from './find-violations.ts';
import { readHistory } from './history.ts';
import { readNotes } from './notes.ts';

const evidenceMax = 20;
const [directory] = parseArgs({ allowPositionals: true }).positionals;
const url = process.env.HOOKMILL_STORE;
if (directory === undefined || !url) throw new Error('give the directory of the notes, and HOOKMILL_STORE');

const notes = readNotes(directory);
const stored = await readStored(url);
const violations = findViolations(notes, stored);
const { answers, executions } = notes;
const acknowledged = answers.filter(({ status }) => status === 202).length;
console.log(
  `${answers.length} requests, of which ${acknowledged} were acknowledged; ` +
    `${stored.accepted.length} deliveries accepted, ${stored.runs.length} runs, ${executions.length} executions`,
);
console.table(
  Object.fromEntries(
    Object.entries(violations).map(([promise, cases]) => [promise, { count: cases.length }]),
  ),
);
for (const [promise, cases] of Object.entries(violations)) {
  for (const evidence of cases.slice(0, evidenceMax)) console.log(`${promise}: ${evidence}`);
}
process.exitCode = Object.values(violations).some(cases => cases.length > 0) ? 1 : 0;

async function readStored(store: string): Promise<Stored> {
  const { rows: accepted } = await query(
    store,
    `SELECT id, identity,
      CASE WHEN json ->> 'id' = identity THEN json ->> 'work' END AS work
    FROM (SELECT *, convert_from(payload, 'UTF8')::json AS json FROM hookmill.deliveries WHERE outcome = 'Accepted') AS d`,
  );
  const { rows: runs } = await query(
    store,
    'SELECT id, delivery_id AS "deliveryId", automation, state FROM hookmill.runs',
  );
  return { accepted, runs, history: await readHistory(text => query(store, text)) };
}
