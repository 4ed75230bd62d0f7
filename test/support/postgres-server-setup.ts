import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server on which homes have their databases. */
    readonly postgresPort: number;
  }
}

/** Starts the server of `npm run test:postgres`. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres(['max_connections = 500']);
  provide('postgresPort', server.port);
  return () => server.stop('immediate');
}
