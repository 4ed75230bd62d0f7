import { beforeAll, beforeEach, inject } from 'vitest';
import { keepHomesIn } from './home-place.ts';
import { createDatabaseAt, templateName } from './postgres.ts';

// Each test file of `npm run test:postgres` loads this first: each home then has a database.

/** Databases that are ready before each test: none uses more homes. */
const homesMax = 4;
const databases: string[] = [];
keepHomesIn(databases);

const fill = async () => {
  while (databases.length < homesMax)
    databases.push(await createDatabaseAt(inject('postgresPort'), templateName));
};
beforeAll(fill);
beforeEach(fill);
