import { describe } from 'vitest';
import { useEmptyDatabases, usePostgres } from '../../../support/postgres.ts';
import { testReplicas } from '../conformance/claims.ts';
import { describeStore } from '../conformance/describe-store.ts';
import { postgresPlace } from './postgres-place.ts';

const nextUrl = useEmptyDatabases(usePostgres(), 2);

describe('daemons of a database', () => testReplicas(() => postgresPlace(nextUrl())));
describeStore('a database', 'documents', () => postgresPlace(nextUrl()));
