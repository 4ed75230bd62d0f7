import { useEmptyDatabases, usePostgres } from '../../support/postgres.ts';
import { describeStore } from '../conformance/describe-store.ts';
import { postgresPlace } from './postgres-place.ts';

const nextUrl = useEmptyDatabases(usePostgres(), 2);

describeStore('a database', 'runs', () => postgresPlace(nextUrl()));
