import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { SqliteDatabase } from '../../../../../store/home/sqlite.ts';
import { pickMoment } from '../../../../support/moment.ts';
import { hasStrace, readTrace, tracing } from '../../../../support/strace.ts';
import { openReader, temporaryFile } from './delivery-log-samples.ts';

const writer = fileURLToPath(new URL('./delivery-log-writer.ts', import.meta.url));
const rounds = inject('isLong') ? 20 : 1;

test('syncs the write-ahead log before a delivery is reported recorded', ({ skip }) => {
  skip(!hasStrace, 'needs strace');
  const { calls } = trace({ senders: 1, count: 25 });
  const reports = calls.flatMap((call, index) => (isReport(call) ? [index] : []));
  expect(reports).toHaveLength(25);
  for (const [index, report] of reports.entries()) {
    const sinceLast = calls.slice(reports[index - 1] ?? 0, report);
    const lastWrite = sinceLast.findLastIndex(isLogWrite);
    expect(lastWrite).toBeGreaterThan(-1);
    expect(sinceLast.slice(lastWrite).some(isLogSync)).toBe(true);
  }
});

test('shares one sync between deliveries that arrive together', ({ skip }) => {
  skip(!hasStrace, 'needs strace');
  const { calls, commits } = trace({ senders: 50, count: 500 });
  const syncs = calls.filter(isLogSync).length;
  expect(syncs).toBeGreaterThanOrEqual(commits);
  expect(syncs).toBeLessThan(100);
});

test('keeps through kill -9 all that was reported recorded, each identity and its run once', async () => {
  const file = temporaryFile();
  for (let round = 0; round < rounds; round++) {
    const reported = await writeAndKill(file, 1 + Math.floor(pickMoment() * 2_000));
    const reader = openReader(file);
    for (const line of reported) {
      const id = line.slice(0, line.indexOf(' '));
      expect(reader.findDelivery(id)).toMatchObject({ id, outcome: 'Accepted' });
      expect(Buffer.from(reader.readPayload(id) ?? []).toString()).toBe(id.repeat(20));
      expect(reader.listRunsOfDelivery(id)).toHaveLength(1);
    }
  }
  const database = new SqliteDatabase(file);
  const one = (sql: string) => database.prepareColumn(sql).get();
  expect(one('PRAGMA integrity_check')).toBe('ok');
  const accepted = "FROM deliveries JOIN series ON key = series WHERE outcome = 'Accepted'";
  expect(one(`SELECT count(*) - count(DISTINCT identity) ${accepted}`)).toBe(0);
  const count = one(`SELECT count(*) ${accepted}`);
  expect(one('SELECT count(*) FROM runs')).toBe(count);
  expect(one('SELECT count(payload) FROM deliveries')).toBe(count);
  database.close();
});

/** The child's complete lines, of which there are at least `count`; it is killed while it writes on. */
async function writeAndKill(file: string, count: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, file, '32'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  expect(lines.length).toBeGreaterThanOrEqual(count);
  // The last line may have been cut.
  return lines.slice(0, -1);
}

interface Trace {
  /** In the order in which they ended. */
  readonly calls: readonly string[];
  readonly commits: number;
}

function trace({ senders, count }: { senders: number; count: number }): Trace {
  const file = temporaryFile();
  const output = `${file}.strace`;
  const through = tracing('fsync,fdatasync,pwrite64,write', output);
  const [strace = '', ...words] = [...through, process.execPath, writer, file, `${senders}`, `${count}`];
  const printed = execFileSync(strace, words, { encoding: 'utf8' });
  return {
    calls: readTrace(output),
    commits: Number(/commits (\d+)/.exec(printed)?.[1]),
  };
}

function isReport(call: string): boolean {
  return /^write\(1<.*"dlv_/.test(call);
}

function isLogWrite(call: string): boolean {
  return /^pwrite64\(\d+<[^>]*deliveries\.db-wal>/.test(call);
}

function isLogSync(call: string): boolean {
  return /^(fsync|fdatasync)\(\d+<[^>]*deliveries\.db-wal>.* = 0$/.test(call);
}
