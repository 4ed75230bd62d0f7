import { totalmem } from 'node:os';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { inTemporaryDirectory } from './factory.ts';

/** A quarter of the memory for its buffers, as the manual of PostgreSQL recommends, and few checkpoints. */
const settings = [
  `shared_buffers = ${Math.floor(totalmem() / 4 / 1024 ** 2)}MB`,
  'max_wal_size = 16GB',
  'checkpoint_timeout = 15min',
];

/** Runs a benchmark in a directory of its own with a PostgreSQL server, the same for all cases. */
export function withPostgres(bench: (directory: string, server: PostgresServer) => Promise<void>) {
  return inTemporaryDirectory(async directory => {
    // The server's files are removed with everything else.
    process.env.TMPDIR = directory;
    const server = await startPostgres(settings);
    await bench(directory, server).finally(() => server.stop('immediate'));
  });
}
