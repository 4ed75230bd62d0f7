import { usePostgres } from '../../../support/postgres.ts';
import { describeStore } from '../conformance/describe-store.ts';
import { postgresPlaces } from './postgres-place.ts';

describeStore('a database', 'deliveries', postgresPlaces(usePostgres()));
