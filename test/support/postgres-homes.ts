import { beforeAll, beforeEach } from 'vitest';
import { keepHomesIn } from './home-place.ts';
import { createDatabaseAt, findSharedPort, templateName } from './postgres.ts';

// Each test file of `npm run test:postgres` loads this first: each home then has a database.

/** Databases that are ready before each test: none uses more homes. */
const homesMax = 4;
const databases: string[] = [];
keepHomesIn(databases);

const fill = async () => {
  if (databases.length >= homesMax) return;
  const port = await findSharedPort();
  while (databases.length < homesMax) databases.push(await createDatabaseAt(port, templateName));
};
beforeAll(fill);
beforeEach(fill);
