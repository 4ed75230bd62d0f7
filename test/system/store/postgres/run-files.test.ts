import { access } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { homeAt, runOutputFile } from '../../../../store/home/home.ts';
import { openRunFiles } from '../../../../store/home/run-files.ts';
import { connectDatabase } from '../../../../store/postgres/connection/database.ts';
import { openSharedRunFiles } from '../../../../store/postgres/run-files.ts';
import { newRun } from '../../../support/deliveries.ts';
import { useOwnPostgres } from '../../../support/postgres.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const server = useOwnPostgres();

test('output that the database could not take stays on the machine, and the next attempt there stores both', async () => {
  const home = homeAt(makeWorkspace().home);
  const database = connectDatabase(await server.createDatabaseWithTables());
  onTestFinished(() => database.close());
  const runFiles = openSharedRunFiles(openRunFiles(home), database);
  const { id } = newRun();
  await runFiles.prepare(id, 'Triage.', { payload: Buffer.of(), headers: {} });
  await server.stop('fast');
  const output = runFiles.appendOutput(id, 'attempt 1', 100);
  await expect(output.close('retry')).rejects.toMatchObject({ code: 'unreachable' });
  await access(runOutputFile(home, id));
  await server.start();
  await runFiles.appendOutput(id, 'attempt 2', 100).close('succeeded');
  const stored = await runFiles.readOutput(id);
  if (!stored) throw new Error('no output was stored');
  expect(await text(stored.stream)).toBe(
    '[hookmill: attempt 1]\n[hookmill: retry]\n[hookmill: attempt 2]\n[hookmill: succeeded]\n',
  );
  await expect(access(runOutputFile(home, id))).rejects.toMatchObject({ code: 'ENOENT' });
});
