import { type ApiDescription, type DescribedOperation, readApiDescription } from './api-description.ts';
import {
  type GithubApp,
  type GithubOwner,
  type GithubToken,
  githubError,
  githubNotFound,
  isSameName,
  readCredential,
  refuseJwt,
  refuseToken,
} from './github-access.ts';
import {
  type GithubHook,
  type GithubHookConfig,
  type HookBody,
  hears,
  makeGithubHook,
} from './github-hooks.ts';
import { createGithubLog, type GithubDelivery, type GithubEvent, newGithubEvent } from './github-log.ts';
import { type GithubState, newHookId, operateGithub } from './github-operations.ts';
import { createGithubRateLimit, type GithubRateLimit, type GithubRateLimited } from './github-rate-limit.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  parseApiBody,
  type SenderDouble,
  type SenderServer,
  startSenderServer,
  writeJson,
} from './sender-server.ts';

export interface GithubSetup {
  /** Where the API is: `/api/v3` at a GitHub Enterprise Server, which has other limits. */
  readonly basePath?: string;
  /** `acme/shop` by default. */
  readonly repositories?: readonly string[];
  /** The owners of the repositories by default. */
  readonly organizations?: readonly string[];
  /** By the tokens themselves. By default, `github-token` is a classic one that may do everything. */
  readonly tokens?: Readonly<Record<string, GithubToken>>;
  readonly app?: GithubApp & {
    readonly hook: Partial<GithubHookConfig> & { readonly events?: readonly string[] };
  };
  readonly requestsPerHour?: number;
  readonly deliveryTimeoutMs?: number;
}

/** Whose hooks hear an event: those of the repository, of its owner, and of the app. */
export interface GithubTarget {
  /** The first repository by default. */
  readonly repository?: string;
  readonly installationId?: number;
}

/** What came of deliveries that are recorded without being made. By default, nothing listened for an hour. */
export interface RecordedDeliveries extends GithubTarget {
  readonly status?: string;
  readonly statusCode?: number;
  /** From the first delivery to the last, which is made now. */
  readonly spanMs?: number;
  readonly payload?: (index: number) => object;
}

/** A double of GitHub's webhooks and their API, which keeps to GitHub's description. */
export interface GithubApi extends SenderDouble {
  /** The hooks with their secrets. */
  readonly hooks: readonly GithubHook[];
  /** All deliveries, the oldest first, also those that answers no longer show. */
  readonly log: readonly GithubDelivery[];
  /** Makes a hook as a person does on the website, without a ping. */
  addHook(owner: string, body: HookBody): GithubHook;
  /** Sends an event once to each hook that hears it, and records what came of it. */
  deliver(
    event: string,
    action: string | null,
    payload: object,
    target?: GithubTarget,
  ): Promise<readonly GithubDelivery[]>;
  /** Records as many events as missed deliveries to each hook that hears them, without sending anything. */
  deliverMany(
    count: number,
    event: string,
    action: string | null,
    given?: RecordedDeliveries,
  ): readonly GithubDelivery[];
  setRateLimited(limited: GithubRateLimited | undefined): void;
}

const everything: GithubToken = { kind: 'classic', scopes: ['repo', 'admin:repo_hook', 'admin:org_hook'] };
/** github.blog, "REST API version 2026-03-10 is now available" (2026-03): the older one is supported until 2028-03. */
const apiVersions = ['2022-11-28', '2026-03-10'];
const dayMs = 24 * 3_600_000;

/**
 * Limits of github.com and of GitHub Enterprise Server (docs.github.com, "Handling failed webhook deliveries",
 * "Redelivering webhooks", "About webhooks" and "Rate limits for the REST API", 2026-11).
 */
const limits = {
  github: { requestsPerHour: 5_000, timeoutMs: 10_000, keptMs: 3 * dayMs, hooksPerEventMax: 20 },
  enterprise: {
    ...{ requestsPerHour: Number.MAX_SAFE_INTEGER - 1, timeoutMs: 30_000 },
    ...{ keptMs: 7 * dayMs, hooksPerEventMax: 250 },
  },
};

/** Starts a double for a test file. */
export async function startGithubApi(setup: GithubSetup = {}): Promise<GithubApi> {
  const { basePath = '' } = setup;
  const description = readApiDescription('github');
  const server: SenderServer = await startSenderServer(request => answerRequest(request));
  const { clock, requests, violations } = server;
  const url = `${server.origin}${basePath}`;
  const { requestsPerHour, timeoutMs, keptMs, hooksPerEventMax } = limits[basePath ? 'enterprise' : 'github'];
  const hooks: GithubHook[] = [];
  const log = createGithubLog(clock.now, setup.deliveryTimeoutMs ?? timeoutMs, keptMs);
  const state: GithubState = { server, url, owners: listOwners(setup), hooks, log, hooksPerEventMax };
  const rateLimit = createGithubRateLimit(clock.now, setup.requestsPerHour ?? requestsPerHour);
  const answerRequest = async (request: ApiRequest): Promise<ApiAnswer> => {
    const { status, headers, body } = await answer(request, {
      setup,
      basePath,
      description,
      state,
      rateLimit,
    });
    return { status, body, headers: { ...(basePath ? {} : rateLimit.headers()), ...headers } };
  };
  const addHook = (name: string, body: HookBody) => {
    const owner = state.owners.find(known => isSameName(known.name, name));
    if (!owner) throw new Error(`There is no ${name}`);
    const { value, refusal } = makeGithubHook(
      hooks,
      owner,
      newHookId(state),
      body,
      clock.now(),
      hooksPerEventMax,
    );
    if (refusal) throw new Error(JSON.stringify(refusal.body));
    hooks.push(value);
    return value;
  };
  if (setup.app) {
    const { events = [], ...config } = setup.app.hook;
    addHook(setup.app.clientId, {
      config: { url: 'http://127.0.0.1:9/', content_type: 'json', ...config },
      events,
    });
  }
  return {
    ...{ url, clock, requests, violations, hooks, log: log.deliveries, addHook },
    ...{ failNext: server.failNext, setDown: server.setDown, settled: server.settled },
    setRateLimited: rateLimit.set,
    deliver: (event, action, payload, target) => {
      const made = composeEvent(state, event, action, payload, target);
      const hearing = listHearing(state, event, target);
      return Promise.all(hearing.map(hook => log.deliver(hook, made, false)));
    },
    deliverMany: (count, event, action, given = {}) => recordMany(state, count, event, action, given),
  };
}

/** Refuses a request, or does what it asks for. Notes what the description does not allow. */
async function answer(
  request: ApiRequest,
  given: {
    readonly setup: GithubSetup;
    readonly basePath: string;
    readonly description: ApiDescription;
    readonly state: GithubState;
    readonly rateLimit: GithubRateLimit;
  },
): Promise<ApiAnswer> {
  const { setup, basePath, description, state, rateLimit } = given;
  const { violations } = state.server;
  const { method, path, headers } = request;
  const complain = (problem: string) => violations.push(`${method} ${path}: ${problem}`);
  if (!headers['user-agent']) {
    complain('the User-Agent is missing');
    return { status: 403, headers: { 'content-type': 'text/plain' }, body: Buffer.from(withoutAgent) };
  }
  const operation = path.startsWith(`${basePath}/`) && description.find(method, path.slice(basePath.length));
  if (!operation) {
    complain('the description has no such operation');
    return githubNotFound;
  }
  if (headers.accept !== 'application/vnd.github+json') complain('Accept is not application/vnd.github+json');
  const version = String(headers['x-github-api-version']);
  if (!apiVersions.includes(version)) {
    complain(`X-GitHub-Api-Version is ${version}`);
    return githubError(400, `"${version}" is not a supported version`);
  }
  const limited = rateLimit.count();
  if (limited) return limited;
  const owner = findOwner(state.owners, operation);
  const refused = await refuse(request, operation, owner, setup, state.server.clock.now());
  if (refused) return refused;
  const body = parseApiBody(request);
  const problems = operation.checkRequest(request.query, body);
  for (const problem of problems) complain(problem);
  if (problems.length > 0 || !owner) return githubError(422, `Invalid request.\n\n${problems.join('\n')}`);
  const answered = operateGithub({ ...state, owner, request, operation, body });
  const shown = answered.body === undefined ? undefined : JSON.parse(writeJson(answered.body));
  for (const problem of operation.checkAnswer(answered.status, shown))
    complain(`the double lies: ${problem}`);
  return answered;
}

const withoutAgent =
  'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.';

async function refuse(
  { method, headers }: ApiRequest,
  { id }: DescribedOperation,
  owner: GithubOwner | undefined,
  { app, tokens = { 'github-token': everything } }: GithubSetup,
  nowMs: number,
): Promise<ApiAnswer | undefined> {
  const credential = readCredential(headers.authorization);
  if (!credential) return githubError(401, 'Requires authentication');
  if (app && owner?.kind === 'app' && !(credential in tokens)) return refuseJwt(credential, app, nowMs);
  const token = tokens[credential];
  if (!token) return githubError(401, 'Bad credentials');
  // That reading is enough for a ping is assumed.
  const isRead = method === 'GET' || id.endsWith('/ping-webhook');
  return owner ? refuseToken(token, owner, isRead ? 'read' : 'write') : githubNotFound;
}

function recordMany(
  state: GithubState,
  count: number,
  event: string,
  action: string | null,
  given: RecordedDeliveries,
): readonly GithubDelivery[] {
  const { status = 'failed to connect', statusCode = 502, spanMs = 3_600_000 } = given;
  const nowMs = state.server.clock.now();
  const hearing = listHearing(state, event, given);
  return Array.from({ length: count }).flatMap((_item, index) => {
    const payload = given.payload?.(index) ?? { number: index };
    const made = composeEvent(state, event, action, payload, given);
    const deliveredAtMs = nowMs - Math.round((spanMs * (count - 1 - index)) / Math.max(1, count - 1));
    const outcome = {
      deliveredAtMs,
      redelivery: false,
      durationSeconds: 0,
      status,
      statusCode,
      headers: {},
      body: null,
    };
    return hearing.map(hook => state.log.record(hook, made, outcome));
  });
}

function composeEvent(
  state: GithubState,
  event: string,
  action: string | null,
  payload: object,
  target: GithubTarget = {},
): GithubEvent {
  const { id, name } = targetRepository(state, target);
  const installationId = target.installationId ?? null;
  const whole = {
    ...(action === null ? {} : { action }),
    ...{ repository: { id, full_name: name }, ...payload },
    ...(installationId === null ? {} : { installation: { id: installationId } }),
  };
  return newGithubEvent({ event, action, payload: whole, repositoryId: id, installationId });
}

function listHearing(state: GithubState, event: string, target: GithubTarget = {}): readonly GithubHook[] {
  const repository = targetRepository(state, target);
  const [login = ''] = repository.name.split('/');
  return state.hooks.filter(hook => {
    const { owner } = hook;
    const isAbove = owner.kind === 'app' || (owner.kind === 'organization' && isSameName(owner.name, login));
    return (isAbove || owner === repository) && hears(hook, event);
  });
}

function targetRepository({ owners }: GithubState, { repository }: GithubTarget): GithubOwner {
  const found = owners.find(
    ({ kind, name }) => kind === 'repository' && (!repository || isSameName(name, repository)),
  );
  if (!found) throw new Error(`There is no repository ${repository}`);
  return found;
}

function listOwners({
  repositories = ['acme/shop'],
  organizations,
  app,
}: GithubSetup): readonly GithubOwner[] {
  const logins = organizations ?? [...new Set(repositories.map(name => name.split('/')[0] ?? ''))];
  return [
    ...repositories.map((name, index) => ({ kind: 'repository' as const, name, id: 1_296_269 + index })),
    ...logins.map((name, index) => ({ kind: 'organization' as const, name, id: 6_811_672 + index })),
    ...(app ? [{ kind: 'app' as const, name: app.clientId, id: app.id }] : []),
  ];
}

function findOwner(
  owners: readonly GithubOwner[],
  { parameters }: DescribedOperation,
): GithubOwner | undefined {
  const { owner, repo, org } = parameters;
  const kind = repo ? 'repository' : org ? 'organization' : 'app';
  const name = repo ? `${owner}/${repo}` : org;
  return owners.find(known => known.kind === kind && (!name || isSameName(known.name, name)));
}
