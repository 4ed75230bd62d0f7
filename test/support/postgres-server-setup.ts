import type { TestProject } from 'vitest/node';
import { createTemplateAt, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server on which homes have their databases. */
    readonly postgresPort: number;
    /** The name of a database there that has the tables. */
    readonly postgresTemplate: string;
  }
}

/** Starts the server of `npm run test:postgres`. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres(['max_connections = 500']);
  provide('postgresPort', server.port);
  provide('postgresTemplate', await createTemplateAt(server.port));
  return () => server.stop('immediate');
}
