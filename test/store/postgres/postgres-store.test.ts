import { beforeEach, describe } from 'vitest';
import { usePostgres } from '../../support/postgres.ts';
import { testApiTokens } from '../conformance/api-tokens.ts';
import { testAppliedStates } from '../conformance/applied-states.ts';
import { testReconcileStatuses } from '../conformance/reconcile-statuses.ts';
import { testRunFiles } from '../conformance/run-files.ts';
import { testTeamSecrets } from '../conformance/team-secrets.ts';
import { postgresPlace } from './postgres-place.ts';

const server = usePostgres();
let url: string;
beforeEach(async () => {
  url = await server.createDatabase();
});
const makePlace = () => postgresPlace(url);

describe('applied states', () => testAppliedStates(makePlace));
describe('team secrets', () => testTeamSecrets(makePlace));
describe('API tokens', () => testApiTokens(makePlace));
describe('reconcile statuses', () => testReconcileStatuses(makePlace));
describe('run files', () => testRunFiles(makePlace));
