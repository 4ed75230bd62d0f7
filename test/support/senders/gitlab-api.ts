import { type ApiDescription, readApiDescription } from './api-description.ts';
import {
  type GitlabHook,
  type GitlabHookBody,
  type GitlabOwner,
  gitlabAlertStatus,
  makeGitlabHook,
} from './gitlab-hooks.ts';
import { createGitlabLog, type GitlabEvent, type GitlabOutcome } from './gitlab-log.ts';
import {
  type GitlabCall,
  type GitlabState,
  newGitlabHookId,
  operateGitlab,
  tooManyRequests,
} from './gitlab-operations.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  parseApiBody,
  type SenderDouble,
  type SenderServer,
  startSenderServer,
} from './sender-server.ts';

export interface GitlabToken {
  readonly user: string;
  readonly scopes: readonly ('api' | 'read_api')[];
  /** The role in each project and group: `none` if it cannot even be seen. */
  readonly role: 'owner' | 'maintainer' | 'developer' | 'none';
}

export interface GitlabSetup {
  /** The path of a GitLab that is not at the root of its host, such as `/gitlab`. */
  readonly relativeUrl?: string;
  /** `{ 'acme/shop': 42 }` by default. */
  readonly projects?: Readonly<Record<string, number>>;
  /** `{ acme: 7 }` by default. */
  readonly groups?: Readonly<Record<string, number>>;
  /** By the tokens themselves. By default, `gitlab-token` may do everything. */
  readonly tokens?: Readonly<Record<string, GitlabToken>>;
  /** Is an older version, whose events have no `created_at` and whose limits have no `Retry-After`. */
  readonly isOlder?: boolean;
  readonly deliveryTimeoutMs?: number;
}

/** Events that are recorded as missed without being sent. */
export interface RecordedEvents {
  /** The path of a project or a group, the first project by default. */
  readonly owner?: string;
  /** `internal error` by default: nothing listened. */
  readonly responseStatus?: string;
  /** From the first event to the last, which is made now: an hour by default. */
  readonly spanMs?: number;
  readonly payload?: (index: number) => object;
}

/** A double of GitLab's webhooks and their API, which keeps to the description in `test/fixtures/senders/`. */
export interface GitlabApi extends SenderDouble {
  /** The hooks with their secret tokens. */
  readonly hooks: readonly GitlabHook[];
  /** All events, the oldest first, also those that answers no longer show. */
  readonly log: readonly GitlabEvent[];
  /** Makes a hook as a person does on the website. */
  addHook(owner: string, body: GitlabHookBody & { readonly url: string }): GitlabHook;
  /**
   * Sends an event, such as `push_events`, once to each hook of a project, and of the groups above it, that hears it, and
   * records what came of it. A hook that is disabled gets nothing, and nothing records that.
   */
  deliver(event: string, payload: object, owner?: string): Promise<readonly GitlabOutcome[]>;
  deliverMany(count: number, event: string, given?: RecordedEvents): readonly GitlabEvent[];
  /** Refuses requests with 429 until so much time has passed, as GitLab does above the rate limit of all requests. */
  setRateLimited(limited: { readonly retryAfterSeconds: number } | undefined): void;
}

const everything: GitlabToken = { user: 'root', scopes: ['api'], role: 'owner' };

/** Starts a double for a test file. */
export async function startGitlabApi(setup: GitlabSetup = {}): Promise<GitlabApi> {
  const description = readApiDescription('gitlab');
  const basePath = `${setup.relativeUrl ?? ''}/api/v4`;
  let limitedUntilMs = 0;
  const server: SenderServer = await startSenderServer(request => {
    const waitMs = limitedUntilMs - server.clock.now();
    if (waitMs > 0) return tooManyRequests('Retry later', Math.ceil(waitMs / 1000));
    return answer(request, { setup, basePath, description, state });
  });
  const { clock, requests, violations } = server;
  const hooks: GitlabHook[] = [];
  const log = createGitlabLog(clock.now, server.origin, setup.deliveryTimeoutMs ?? 10_000);
  const { isOlder = false } = setup;
  const state: GitlabState = {
    server,
    isOlder,
    owners: listOwners(setup),
    hooks,
    log,
    limited: new Map(),
  };
  const hearing = (event: string, owner?: string) =>
    hooks.filter(hook => isWithin(findByPath(state, owner), hook.owner) && hook.events.has(event));
  return {
    ...{ url: `${server.origin}${basePath}`, clock, requests, violations, hooks, log: log.events },
    ...{ failNext: server.failNext, setDown: server.setDown, settled: server.settled },
    setRateLimited: limited => {
      limitedUntilMs = limited ? clock.now() + limited.retryAfterSeconds * 1000 : 0;
    },
    addHook: (owner, body) => {
      const hook = makeGitlabHook(findByPath(state, owner), newGitlabHookId(state), body, clock.now());
      hooks.push(hook);
      return hook;
    },
    deliver: (event, payload, owner) => {
      const able = hearing(event, owner).filter(
        hook => gitlabAlertStatus(hook, clock.now()) === 'executable',
      );
      return Promise.all(able.map(hook => log.deliver(hook, event, payload)));
    },
    deliverMany: (count, event, given = {}) => {
      const { responseStatus = 'internal error', spanMs = 3_600_000 } = given;
      const nowMs = clock.now();
      return Array.from({ length: count }).flatMap((_item, index) => {
        const timeMs = nowMs - Math.round((spanMs * (count - 1 - index)) / Math.max(1, count - 1));
        const payload = given.payload?.(index) ?? { number: index };
        return hearing(event, given.owner).map(hook =>
          log.record(hook, event, payload, timeMs, responseStatus),
        );
      });
    },
  };
}

/** Refuses a request, or does what it asks for. Notes what the description does not allow. */
async function answer(
  request: ApiRequest,
  given: {
    readonly setup: GitlabSetup;
    readonly basePath: string;
    readonly description: ApiDescription;
    readonly state: GitlabState;
  },
): Promise<ApiAnswer> {
  const { setup, basePath, description, state } = given;
  const { method, path, query } = request;
  const complain = (problem: string) => state.server.violations.push(`${method} ${path}: ${problem}`);
  const operation = path.startsWith(`${basePath}/`) && description.find(method, path.slice(basePath.length));
  if (!operation) {
    complain('the description has no such operation');
    return { status: 404, body: { error: '404 Not Found' } };
  }
  const token = findToken(request, setup);
  if (!token) return { status: 401, body: { message: '401 Unauthorized' } };
  const owner = state.owners.find(
    ({ kind, id, path: name }) =>
      path.startsWith(`${basePath}/${kind}/`) && [String(id), name].includes(operation.parameters.id ?? ''),
  );
  const refused = refuse(token, owner, path.startsWith(`${basePath}/groups/`), method);
  if (refused) return refused;
  const body = parseApiBody(request);
  const problems = operation.checkRequest(query, body);
  for (const problem of problems) complain(problem);
  const isUrlMissing = problems.some(problem => problem.includes("required property 'url'"));
  if (isUrlMissing) return { status: 400, body: { error: 'url is missing' } };
  if (problems.length > 0 || !owner)
    return { status: 400, body: { error: `${problems.join(', ')} is invalid` } };
  const call: GitlabCall = {
    ...state,
    owner,
    user: token.user,
    request,
    operation,
    body: (body ?? {}) as GitlabHookBody,
  };
  const answered = await operateGitlab(call);
  for (const problem of operation.checkAnswer(answered.status, answered.body))
    complain(`the double lies: ${problem}`);
  return answered;
}

function findToken({ headers }: ApiRequest, { tokens = { 'gitlab-token': everything } }: GitlabSetup) {
  const given = headers['private-token'] ?? /^bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return tokens[String(given)];
}

/** Projects need the role Maintainer, groups the role Owner (doc/api/project_webhooks.md, group_webhooks.md, 2026-11). */
function refuse(
  { scopes, role }: GitlabToken,
  owner: GitlabOwner | undefined,
  isGroup: boolean,
  method: string,
): ApiAnswer | undefined {
  if (!scopes.includes('api') && !(method === 'GET' && scopes.includes('read_api'))) {
    const description = 'The request requires higher privileges than provided by the access token.';
    return {
      ...{ status: 403, body: { error: 'insufficient_scope', error_description: description, scope: 'api' } },
    };
  }
  if (!owner || role === 'none') {
    return { status: 404, body: { message: `404 ${isGroup ? 'Group' : 'Project'} Not Found` } };
  }
  const isEnough = role === 'owner' || (role === 'maintainer' && !isGroup);
  return isEnough ? undefined : { status: 403, body: { message: '403 Forbidden' } };
}

function listOwners({
  projects = { 'acme/shop': 42 },
  groups = { acme: 7 },
}: GitlabSetup): readonly GitlabOwner[] {
  const list = (kind: GitlabOwner['kind'], named: Readonly<Record<string, number>>) =>
    Object.entries(named).map(([path, id]) => ({ kind, id, path }));
  return [...list('projects', projects), ...list('groups', groups)];
}

function findByPath({ owners }: GitlabState, path?: string): GitlabOwner {
  const owner = owners.find(known => path === undefined || known.path === path);
  if (!owner) throw new Error(`There is no ${path}`);
  return owner;
}

function isWithin(owner: GitlabOwner, other: GitlabOwner): boolean {
  return owner === other || (other.kind === 'groups' && owner.path.startsWith(`${other.path}/`));
}
