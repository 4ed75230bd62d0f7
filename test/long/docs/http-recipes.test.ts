import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { type ReceivedRequest, startReceiver } from '../../support/loopback-server.ts';
import { recordRun } from '../../system/daemon/runs/record-runs.ts';
import { openRunBench, outputOf, runThatIs } from '../../system/daemon/runs/run-samples.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/recipes.md'), 'utf8');
const [, section = ''] = page.split('\n## Services with an HTTP API\n');
const recipes = new Map(
  section.split('\n### ').map(text => [text.split('\n')[0], /```yaml\n(.*?)```/s.exec(text)?.[1]] as const),
);
recipes.delete('');

const secret = 's3cr3t-value';
const title = '"}, {"admin": true <!channel> {secret.TOKEN}';
const payload = `{"issue": {"id": 9007199254740993, "title": ${JSON.stringify(title)}}}`;
const issue = JSON.parse(payload);
const message = expect.stringMatching(/^Triage this payment\.\n\n---\n/);

type Answer = readonly [status: number, body: string | object, headers?: Readonly<Record<string, string>>];

/** The IDs of a run, which a receiver may expect. */
interface Ids {
  readonly run: string;
  readonly delivery: string;
}

/** A double of a receiver: what it expects, and how it answers. */
interface Double {
  /** The path and the query of a request. */
  readonly path: string | ((ids: Ids) => string);
  /** The expected headers, apart from those that hookmill and every HTTP client send. */
  readonly headers: Readonly<Record<string, string>> | ((ids: Ids) => Readonly<Record<string, string>>);
  readonly body: (ids: Ids) => object;
  /** Where the double looks for the credential. */
  readonly credential: (request: ReceivedRequest) => unknown;
  readonly expectedCredential?: string;
  readonly answers: {
    readonly busy: Answer;
    readonly wrongCredential?: Answer;
    readonly success: Answer;
    /** How the double answers what it has already; without it, as to anything new. */
    readonly again?: Answer;
  };
  readonly report?: object;
  readonly output: string;
}

const bearer = (request: ReceivedRequest) => request.headers.authorization;
const json = (ids: Ids) => ({
  ...{
    message,
    ...ids,
    webhook: 'pay',
    automation: 'triage',
    factory: 'default',
    attempt: expect.any(Number),
  },
  ...{ headers: expect.any(Object), payload: issue },
});
const soon = { 'retry-after': '0' };

const doubles: Readonly<Record<string, Double>> = {
  'Claude Code routines': {
    path: '/v1/claude_code/routines/trig_01ABCDEFGHJKLMNOPQRSTUVW/fire',
    headers: {
      ...{ authorization: `Bearer ${secret}`, 'anthropic-version': '2023-06-01' },
      'anthropic-beta': 'experimental-cc-routine-2026-04-01',
    },
    body: () => ({
      text: expect.stringMatching(/^Triage this payment\.\n.*event-payload\.json:\n\n{"issue".*}$/s),
    }),
    credential: bearer,
    answers: {
      busy: [429, { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }, soon],
      wrongCredential: [401, { type: 'error', error: { type: 'authentication_error', message: 'No' } }],
      success: [
        200,
        {
          type: 'routine_fire',
          claude_code_session_id: 'session_01HJKLMNOPQRSTUVWXYZ',
          claude_code_session_url: 'https://claude.ai/code/session_01HJKLMNOPQRSTUVWXYZ',
        },
      ],
    },
    report: { link: 'https://claude.ai/code/session_01HJKLMNOPQRSTUVWXYZ' },
    output: 'routine_fire',
  },
  'Cursor automations': {
    path: '/automations/webhook/11111111-2222-3333-4444-555555555555',
    headers: { authorization: `Bearer ${secret}` },
    body: json,
    credential: bearer,
    answers: {
      busy: [429, {}, soon],
      wrongCredential: [401, { code: 'unauthenticated' }],
      success: [200, { success: true }],
    },
    output: '"success":true',
  },
  'GitHub repository dispatches': {
    path: '/repos/acme/app/dispatches',
    headers: {
      ...{ authorization: `Bearer ${secret}`, accept: 'application/vnd.github+json' },
      'x-github-api-version': '2026-03-10',
    },
    body: ids => ({ event_type: 'hookmill', client_payload: { ...ids, message, payload: issue } }),
    credential: bearer,
    answers: {
      busy: [429, { message: 'You have exceeded a secondary rate limit' }, soon],
      wrongCredential: [401, { message: 'Bad credentials' }],
      success: [204, ''],
    },
    output: 'HTTP 204',
  },
  'GitLab pipeline triggers': {
    path: '/api/v4/projects/42/trigger/pipeline',
    headers: {},
    body: ({ run, delivery }) => ({
      ...{ token: secret, ref: 'main' },
      variables: { HOOKMILL_RUN: run, HOOKMILL_DELIVERY: delivery },
    }),
    credential: ({ body }) => JSON.parse(body.toString()).token,
    expectedCredential: secret,
    answers: {
      busy: [429, 'Retry later', soon],
      wrongCredential: [404, { message: '404 Not Found' }],
      success: [
        201,
        { id: 257, status: 'created', web_url: 'https://gitlab.example.com/acme/app/-/pipelines/257' },
      ],
    },
    report: { link: 'https://gitlab.example.com/acme/app/-/pipelines/257' },
    output: 'pipelines/257',
  },
  Inngest: {
    path: `/e/${secret}`,
    headers: {},
    body: ({ run }) => ({
      ...{ name: 'hookmill/delivery.accepted', id: run },
      data: { message, payload: issue, headers: expect.any(Object) },
    }),
    credential: ({ url }) => url,
    expectedCredential: `/e/${secret}`,
    answers: {
      busy: [429, { error: 'rate limited' }, soon],
      wrongCredential: [401, { data: null, error: 'Event key not found', error_code: 'event_key_not_found' }],
      success: [200, { ids: ['01JCXYZ'], status: 200 }],
    },
    report: { message: '01JCXYZ' },
    output: '01JCXYZ',
  },
  Restate: {
    path: '/Triage/run/send',
    headers: ({ run }) => ({ 'idempotency-key': run }),
    body: json,
    credential: () => undefined,
    answers: {
      busy: [503, '', soon],
      success: [202, { invocationId: 'inv_1gdJBtdVEcM942', status: 'Accepted' }],
      again: [200, { invocationId: 'inv_1gdJBtdVEcM942', status: 'PreviouslyAccepted' }],
    },
    report: { message: 'inv_1gdJBtdVEcM942' },
    output: 'ccepted',
  },
  Windmill: {
    path: '/api/w/acme/jobs/run/p/f/hooks/triage',
    headers: { authorization: `Bearer ${secret}` },
    body: ({ run }) => ({ run, message, payload: issue }),
    credential: bearer,
    answers: {
      busy: [429, 'Too many requests', soon],
      wrongCredential: [401, 'Unauthorized'],
      success: [201, '01929c3e-7f3a-7d7e-8a1b-2c3d4e5f6a7b'],
    },
    output: '01929c3e-7f3a-7d7e-8a1b-2c3d4e5f6a7b',
  },
  n8n: {
    path: '/webhook/triage',
    headers: ({ run }) => ({ 'x-n8n-token': secret, 'idempotency-key': run }),
    body: json,
    credential: ({ headers }) => headers['x-n8n-token'],
    expectedCredential: secret,
    answers: {
      busy: [503, { code: 503, message: 'Database is not ready!' }, soon],
      wrongCredential: [403, 'Authorization data is wrong!'],
      success: [200, { message: 'Workflow was started' }],
    },
    output: 'Workflow was started',
  },
  Temporal: {
    path: ({ run }) => `/api/v1/namespaces/default/workflows/${run}`,
    headers: {},
    body: ({ run }) => ({
      ...{
        workflowType: { name: 'Triage' },
        taskQueue: { name: 'hooks' },
        input: [{ message, payload: issue }],
      },
      ...{ requestId: run, workflowIdReusePolicy: 'WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE' },
    }),
    credential: () => undefined,
    answers: {
      busy: [429, { code: 8, message: 'namespace rate limit exceeded' }, soon],
      success: [200, { runId: '7124ede7-fef5-4e15-8411-baa23d6beefd', started: true }],
      again: [409, { code: 6, message: 'Workflow execution already started' }],
    },
    report: { message: '7124ede7-fef5-4e15-8411-baa23d6beefd' },
    output: 'HTTP ',
  },
  Slack: {
    path: `/services/T00000000/B00000000/${secret}`,
    headers: {},
    body: () => ({
      text: 'A delivery arrived',
      blocks: [{ type: 'section', text: { type: 'plain_text', text: title } }],
    }),
    credential: ({ url }) => url,
    expectedCredential: `/services/T00000000/B00000000/${secret}`,
    answers: {
      busy: [429, 'rate_limited', soon],
      wrongCredential: [404, 'no_service'],
      success: [200, 'ok'],
    },
    output: '\nok\n',
  },
};

/** The headers of each request: of `fetch`, of the connection and of hookmill. */
const ownHeaders = [
  ...['accept', 'accept-encoding', 'accept-language', 'connection', 'content-length', 'content-type', 'host'],
  ...['hookmill-attempt', 'hookmill-automation', 'hookmill-delivery-id', 'hookmill-factory'],
  ...['hookmill-fencing-token', 'hookmill-run-id', 'hookmill-webhook', 'sec-fetch-mode', 'user-agent'],
];

test('each recipe has a double', () => {
  expect([...recipes.keys()]).toEqual(expect.arrayContaining(Object.keys(doubles)));
  expect(recipes.size).toBe(Object.keys(doubles).length);
});

/**
 * Starts a double, and a queue with the settings on the page, which posts to it. At first the double is busy, or does what
 * it is asked for and its answer is lost.
 */
async function startDouble(name: string, double: Double, first: 'busy' | 'lost' = 'busy') {
  const expected = double.expectedCredential ?? `Bearer ${secret}`;
  const known = new Set<unknown>();
  const { requests, url } = await startReceiver((_, response) => {
    const request = requests.at(-1);
    const { busy, wrongCredential, success, again = success } = double.answers;
    const id = request?.headers['hookmill-run-id'];
    const answer = () => {
      if (request && wrongCredential && double.credential(request) !== expected) return wrongCredential;
      if (requests.length === 1 && first === 'busy') return busy;
      return known.has(id) ? again : success;
    };
    const [status, body, headers = {}] = answer();
    if (status < 300) known.add(id);
    if (requests.length === 1 && first === 'lost') return void response.destroy();
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, headers).end(status === 204 ? undefined : content);
  });
  const origin = new URL(url).origin;
  const { definition, diagnostics } = parseSettings('recipe.yaml', Buffer.from(recipes.get(name) ?? ''));
  expect(diagnostics).toEqual([]);
  const { runner } = definition?.runs ?? {};
  if (runner?.kind !== 'http') throw new Error('the recipe has no runner http');
  const bench = await openRunBench();
  const here = runner.url === undefined ? {} : { url: runner.url.replace(/^https?:\/\/[^/]+/, origin) };
  const secretNames = [
    ...Object.values(runner.secretHeaders ?? {}).map(one => (typeof one === 'string' ? one : one.secretName)),
    ...[...JSON.stringify(runner.template ?? {}).matchAll(/{secret\.(\w+)}/g)].map(([, one = '']) => one),
  ];
  const setSecret = async (value: string) => {
    for (const one of secretNames) await bench.store.teamSecrets.set(one, value);
    if (runner.secretUrl !== undefined && typeof double.path === 'string')
      await bench.store.teamSecrets.set(runner.secretUrl, `${origin}${double.path.replace(secret, value)}`);
  };
  await setSecret(secret);
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  await bench.start({ runner: { ...runner, ...here }, attempts: 2, backOff });
  return { bench, requests, setSecret };
}

test.each(Object.entries(doubles))(
  '%s is started as it documents it, again after it was busy',
  async (name, double) => {
    const { bench, requests } = await startDouble(name, double);
    const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(payload) });
    const run = await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
    const { atMs, count, ...said } = run.report ?? { atMs: 0, count: 0 };
    expect(said).toEqual(double.report ?? {});
    expect(await outputOf(bench, id)).toContain(double.output);
    expect(await outputOf(bench, id)).not.toContain(secret);

    const ids = { run: id, delivery: run.deliveryId };
    const headers = typeof double.headers === 'function' ? double.headers(ids) : double.headers;
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      expect(request.method).toBe('POST');
      expect(request.url).toBe(typeof double.path === 'string' ? double.path : double.path(ids));
      expect(request.headers).toMatchObject({ ...headers, 'content-type': 'application/json' });
      expect(Object.keys(request.headers).sort()).toEqual(
        [...new Set([...ownHeaders, ...Object.keys(headers)])].sort(),
      );
      const text = request.body.toString();
      expect(JSON.parse(text)).toEqual(double.body(ids));
      if (text.includes('"id": 900')) expect(text).toContain('"id": 9007199254740993');
    }
  },
);

const withCredential = Object.entries(doubles).filter(([, { answers }]) => answers.wrongCredential);

test.each(withCredential)(
  '%s refuses another credential, and the run fails at once',
  async (name, double) => {
    const { bench, requests, setSecret } = await startDouble(name, double);
    await setSecret('0ther-value');
    const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(payload) });
    const error = `the receiver answered ${double.answers.wrongCredential?.[0]}`;
    await runThatIs(bench, id, { state: 'failed', attempts: 1, error });
    expect(requests).toHaveLength(1);
    expect(await outputOf(bench, id)).not.toContain('0ther-value');
  },
);

const withAgain = Object.entries(doubles).filter(([, { answers }]) => answers.again);

test.each(withAgain)('%s recognises a run whose answer was lost', async (name, double) => {
  const { bench, requests } = await startDouble(name, double, 'lost');
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(payload) });
  await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
  expect(requests).toHaveLength(2);
  expect(await outputOf(bench, id)).toContain(`HTTP ${double.answers.again?.[0]}\n`);
});
