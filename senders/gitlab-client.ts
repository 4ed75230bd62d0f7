import { z } from 'zod';
import { type ProviderHook, showHookUrl } from '../schema/sender.ts';
import { printable } from '../schema/text/printable.ts';
import { type AskProvider, createAsk, parseProviderAnswer, pathSegment } from './ask-provider.ts';
import { GuardedRequestError } from './guarded-request.ts';
import {
  type AttemptsPage,
  findNewest,
  type ProviderAttempt,
  type ProviderClient,
  ProviderError,
  type WantedHook,
} from './provider-client.ts';

/** @limit Time in which GitLab must answer each request, in ms: it sends a sample or an event again before it answers, and waits up to 10 s for the ingress. */
const answerMs = 30_000;
/** @limit Longest answer of GitLab, in bytes (8 MiB): 20 events with payloads of 256 KB, which JSON may escape. Longer pages are asked for in parts. */
const answerBytesMax = 8 * 1024 * 1024;
/** @limit Pages of 100 hooks that are read of a project or a group: GitLab.com allows 100 hooks of a project, and 50 of a group. */
const hookPagesMax = 10;
/** @limit Samples of events that a ping tries: GitLab allows five a minute, and has none of an event that never happened. */
const samplesMax = 3;
/** Events of each page. GitLab allows 20; each next number divides the one before, so that a page can be asked for in parts. */
const pageSizes = [20, 5, 1];

/** The project or group by its path or its ID. */
export type GitLabTarget = { readonly project: string | number } | { readonly group: string | number };

/** The two secrets that a hook can have: its secret token, sent as `X-Gitlab-Token`, or the signing token, which signs. */
export type GitLabSecretKind = 'token' | 'signing-token';

export interface GitLabClientOptions {
  readonly target: GitLabTarget;
  /** The URL of the instance; without it, gitlab.com. */
  readonly url?: string | undefined;
  /** A token of a person, a project or a group, with the scope `api`. */
  readonly credential: string;
  /** By default, `token`. GitLab has signing tokens from 19.0 on. */
  readonly secretKind?: GitLabSecretKind | undefined;
  /** Whether the operator lets the instance have a private address, or no https. */
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
  readonly nowMs: () => number;
}

interface GitLabApi {
  readonly ask: AskProvider;
  /** The path of the hooks. */
  readonly path: string;
  readonly isGroup: boolean;
  readonly secretKind: GitLabSecretKind;
}

/**
 * Creates a client of GitLab's REST API for the hooks of a project or a group (docs.gitlab.com/api/project_webhooks and
 * …/api/group_webhooks, 2026-11-27). GitLab keeps its log of events for seven days. Events of a hook are named as
 * `X-Gitlab-Event` has them; one that hookmill does not know, by its attribute.
 */
export function createGitLabClient(options: GitLabClientOptions): ProviderClient {
  const { target, url = 'https://gitlab.com', credential, isTrusted, stopping, nowMs } = options;
  const isGroup = 'group' in target;
  const role = isGroup ? 'the role Owner in the group' : 'the role Maintainer in the project';
  const ask = createAsk({
    ...{ provider: 'GitLab', isTrusted, stopping, nowMs, bounds: { answerMs, answerBytesMax } },
    baseUrl: `${url.replace(/\/+$/, '').replace(/\/api\/v4$/, '')}/api/v4`,
    headers: { Accept: 'application/json' },
    makeToken: () => credential,
    authorize: token => ({ 'PRIVATE-TOKEN': token }),
    neededRights: `the scope api, and ${role}`,
  });
  const path = isGroup
    ? `/groups/${pathSegment(String(target.group))}/hooks`
    : `/projects/${pathSegment(String(target.project))}/hooks`;
  const api: GitLabApi = { ask, path, isGroup, secretKind: options.secretKind ?? 'token' };
  return {
    listHooks: () => listHooks(api),
    createHook: wanted => createHook(api, wanted),
    changeHook: (id, wanted) => changeHook(api, id, wanted),
    ping: hook => ping(api, hook),
    listAttempts: (id, cursor) => listAttempts(api, id, cursor),
    redeliver: async (id, attemptId) => {
      // Keeps the Idempotency-Key. Five a minute for each user and project or group.
      const event = `${path}/${pathSegment(id)}/events/${pathSegment(attemptId)}`;
      await ask({ method: 'POST', path: `${event}/resend` });
    },
  };
}

const hookShape = z.looseObject({
  id: z.int(),
  url: z.string(),
  enable_ssl_verification: z.boolean(),
  // Before 15.7, and of hooks that GitLab never disables, there may be none.
  alert_status: z.string().nullish(),
  disabled_until: z.string().nullish(),
  // From 19.0 on.
  token_present: z.boolean().nullish(),
  signing_token_present: z.boolean().nullish(),
});
type Hook = z.output<typeof hookShape>;

function toHook(hook: Hook, secretKind: GitLabSecretKind): ProviderHook {
  const {
    id,
    url,
    alert_status: alert = 'executable',
    disabled_until: until,
    enable_ssl_verification,
  } = hook;
  const { token_present, signing_token_present } = hook;
  return {
    ...{ id: String(id), url: showHookUrl(url), events: listEvents(hook).sort() },
    isActive: alert === 'executable' || alert === null,
    disabledUntil: alert === 'temporarily_disabled' && until ? new Date(until).toISOString() : null,
    ...{ contentType: 'json', verifiesTls: enable_ssl_verification },
    hasSecret: (secretKind === 'token' ? token_present : signing_token_present) ?? null,
    lastAnswer: null,
  };
}

function listEvents(hook: Hook): string[] {
  const keys = Object.keys(hook).filter(key => key.endsWith('_events') && hook[key] === true);
  return keys.map(key => gitLabEvents.find(event => event.key === key)?.header ?? key);
}

async function listHooks({ ask, path, secretKind }: GitLabApi): Promise<readonly ProviderHook[]> {
  const hooks: ProviderHook[] = [];
  let page = 1;
  for (let hasMore = true; hasMore; page++) {
    if (page > hookPagesMax)
      throw new ProviderError('refused', `GitLab lists more than ${hookPagesMax * 100} hooks.`);
    const answer = await ask({ path, query: { per_page: '100', page: String(page) } });
    hooks.push(
      ...parseProviderAnswer('GitLab', answer, z.array(hookShape)).map(hook => toHook(hook, secretKind)),
    );
    hasMore = Boolean(answer.headers['x-next-page']);
  }
  return hooks;
}

async function createHook(api: GitLabApi, wanted: WantedHook): Promise<ProviderHook> {
  const { ask, path, secretKind } = api;
  const json = makeBody(api, wanted, []);
  const answer = await ask({ method: 'POST', path, json, secret: wanted.secret });
  const hook = parseProviderAnswer('GitLab', answer, hookShape);
  const ignored = findIgnored(api, wanted, hook);
  if (ignored === undefined) return toHook(hook, secretKind);
  // A hook without what it needs would only fail, and the next attempt would create another one.
  await ask({ method: 'DELETE', path: `${path}/${hook.id}` });
  throw new ProviderError('refused', ignored);
}

/**
 * Changes what hookmill manages. GitLab leaves what is not in the body as it is, such as branch filters, the name and the
 * template, but removes the secret token and the custom headers when the URL changes
 * (docs.gitlab.com/api/project_webhooks, and GitLab's app/models/concerns/web_hooks/hook.rb, 2026-11-27).
 */
async function changeHook(api: GitLabApi, id: string, wanted: WantedHook): Promise<ProviderHook> {
  const { ask, secretKind } = api;
  const path = `${api.path}/${pathSegment(id)}`;
  const before = parseProviderAnswer('GitLab', await ask({ path }), hookShape);
  const json = makeBody(api, wanted, listEvents(before));
  const answer = await ask({ method: 'PUT', path, json, secret: wanted.secret });
  const hook = parseProviderAnswer('GitLab', answer, hookShape);
  const ignored = findIgnored(api, wanted, hook);
  if (ignored !== undefined) throw new ProviderError('refused', ignored);
  return toHook(hook, secretKind);
}

/** Names each event, wanted or not: without it, `push_events` is true in a new hook, and the others stay in an old one. */
function makeBody(api: GitLabApi, { url, events, secret }: WantedHook, present: readonly string[]) {
  if (secret === '') throw new ProviderError('refused', 'The secret of the hook is empty.');
  const flags: Record<string, boolean> = {};
  for (const { key, header, of } of gitLabEvents) {
    const isWanted = events.includes(header);
    const isDocumented = of === 'all' || of === (api.isGroup ? 'groups' : 'projects');
    if (isWanted && of === 'groups' && !api.isGroup)
      throw new ProviderError('refused', `GitLab sends the event "${header}" only to hooks of groups.`);
    if (isDocumented || isWanted || present.includes(header)) flags[key] = isWanted;
  }
  for (const event of [...present, ...events]) {
    if (gitLabEvents.some(({ header }) => header === event)) continue;
    if (!/^[a-z_]+_events$/.test(event)) {
      const remedy = 'Use a value of X-Gitlab-Event, such as "Push Hook"';
      throw new ProviderError('refused', `GitLab has no event "${printable(event)}". ${remedy}.`);
    }
    flags[event] = events.includes(event);
  }
  const secretKey = api.secretKind === 'token' ? 'token' : 'signing_token';
  return { url, [secretKey]: secret, enable_ssl_verification: true, ...flags };
}

/** Says what the instance ignored: attributes that it does not know, without an error. */
function findIgnored({ secretKind }: GitLabApi, wanted: WantedHook, hook: Hook): string | undefined {
  // docs.gitlab.com/api/project_webhooks, 2026-11-27
  if (secretKind === 'signing-token' && hook.signing_token_present !== true)
    return 'This GitLab instance ignores signing tokens. Use GitLab 19.0 or later, or the scheme gitlab-token.';
  const set = listEvents(hook);
  const missing = wanted.events.filter(event => !set.includes(event));
  if (missing.length === 0) return undefined;
  const remedy = 'They need a later version or another licence';
  return `This GitLab instance ignores events: ${missing.join(', ')}. ${remedy}.`;
}

/**
 * Sends a sample of an event, and waits for the answer of the ingress. Pushes come first: nearly every project has one.
 * GitLab answers 422 if there is nothing to make a sample of, and also if the ingress does not accept it.
 */
async function ping({ ask, path }: GitLabApi, { id, events }: ProviderHook): Promise<void> {
  const samples = gitLabEvents.filter(({ key, header, hasSample }) =>
    key === 'push_events' ? true : hasSample && events.includes(header),
  );
  const failures: string[] = [];
  for (const { key } of samples.slice(0, samplesMax)) {
    try {
      await ask({ method: 'POST', path: `${path}/${pathSegment(id)}/test/${key}` });
      return;
    } catch (error) {
      const isAnswered = error instanceof ProviderError && error.cause === undefined;
      if (!isAnswered || error.code !== 'refused') throw error;
      failures.push(error.message);
    }
  }
  throw new ProviderError('refused', failures.join(' '));
}

const attemptsShape = z.array(
  z.object({
    id: z.int(),
    trigger: z.string(),
    request_headers: z.record(z.string(), z.unknown()).nullish(),
    request_data: z.unknown().optional(),
    response_status: z.union([z.string(), z.number()]).nullish(),
    created_at: z.iso.datetime({ offset: true }).optional(),
  }),
);

/** A cursor is the number of events before the page. */
async function listAttempts(api: GitLabApi, id: string, cursor: string | null): Promise<AttemptsPage> {
  const skipped = /^\d{1,9}$/.test(cursor ?? '0') ? Number(cursor ?? 0) : Number.NaN;
  const path = `${api.path}/${pathSegment(id)}/events`;
  for (const size of pageSizes.filter(one => skipped % one === 0)) {
    try {
      const query = { per_page: String(size), page: String(skipped / size + 1) };
      const answer = await api.ask({ path, query });
      const listed = parseProviderAnswer('GitLab', answer, attemptsShape);
      const times = listed.flatMap(({ created_at }) =>
        created_at === undefined ? [] : Date.parse(created_at),
      );
      return {
        attempts: listed.flatMap(toAttempt),
        entries: listed.length,
        newestMs: findNewest(times),
        next: answer.headers['x-next-page'] ? String(skipped + size) : null,
      };
    } catch (error) {
      const { cause } = error instanceof ProviderError ? error : {};
      const isTooLarge = cause instanceof GuardedRequestError && cause.code === 'too-large';
      if (!isTooLarge || size === 1) throw error;
    }
  }
  throw new ProviderError('refused', `${JSON.stringify(cursor)} is not a cursor of GitLab's events.`);
}

/**
 * Reads an event of the log. Events without an Idempotency-Key are from a GitLab before 17.4, which can neither identify
 * them nor send them again: they are left out. If a payload was too large for GitLab's queue, its log has
 * `{"oversize": true}`, and would send that (app/services/web_hook_service.rb and …/resend_service.rb, 2026-11-27).
 */
function toAttempt(entry: z.output<typeof attemptsShape>[number]): ProviderAttempt[] {
  const { id, trigger, request_headers: headers, request_data: payload, response_status, created_at } = entry;
  const eventId = headers?.['Idempotency-Key'];
  const event = headers?.['X-Gitlab-Event'] ?? trigger;
  if (typeof eventId !== 'string' || typeof event !== 'string') return [];
  if (created_at === undefined) {
    const remedy = 'Use a later version';
    throw new ProviderError('refused', `This GitLab instance does not say when it sent an event. ${remedy}.`);
  }
  const read = payloadShape.safeParse(payload).data;
  const canRedeliver = read?.oversize !== true;
  const action = read?.action ?? read?.object_attributes?.action ?? null;
  return [
    {
      ...{ id: String(id), eventId, event, action, atMs: Date.parse(created_at), canRedeliver },
      // "internal error" if there was no answer.
      status: /^\d{3}$/.test(String(response_status)) ? Number(response_status) : null,
      ...(canRedeliver && { payload }),
    },
  ];
}

const textOrNone = z.string().optional().catch(undefined);
const payloadShape = z.object({
  oversize: z.unknown().optional(),
  action: textOrNone,
  object_attributes: z.object({ action: textOrNone }).optional().catch(undefined),
});

/** What an event of a GitLab hook is called, and which hooks have it. */
interface GitLabEvent {
  /** Its attribute in the API. */
  readonly key: string;
  /** Its name in the header `X-Gitlab-Event`. */
  readonly header: string;
  /** The hooks for which the API documents the attribute. */
  readonly of: 'all' | 'projects' | 'groups';
  /** Whether the API can send a sample of it. */
  readonly hasSample: boolean;
}

/**
 * The events of GitLab's hooks: the attributes and samples as docs.gitlab.com/api/project_webhooks and …/api/group_webhooks
 * list them, the headers as docs.gitlab.com/user/project/integrations/webhook_events has them, 2026-11-27. GitLab makes the
 * header of the name of the trigger (app/services/web_hook_service.rb), which is nearly the attribute.
 */
export const gitLabEvents: readonly GitLabEvent[] = [
  { key: 'push_events', header: 'Push Hook', of: 'all', hasSample: true },
  { key: 'tag_push_events', header: 'Tag Push Hook', of: 'all', hasSample: true },
  { key: 'issues_events', header: 'Issue Hook', of: 'all', hasSample: true },
  { key: 'confidential_issues_events', header: 'Confidential Issue Hook', of: 'all', hasSample: true },
  { key: 'merge_requests_events', header: 'Merge Request Hook', of: 'all', hasSample: true },
  { key: 'note_events', header: 'Note Hook', of: 'all', hasSample: true },
  { key: 'confidential_note_events', header: 'Confidential Note Hook', of: 'all', hasSample: false },
  { key: 'job_events', header: 'Job Hook', of: 'all', hasSample: true },
  { key: 'pipeline_events', header: 'Pipeline Hook', of: 'all', hasSample: true },
  { key: 'wiki_page_events', header: 'Wiki Page Hook', of: 'all', hasSample: true },
  { key: 'deployment_events', header: 'Deployment Hook', of: 'all', hasSample: false },
  { key: 'feature_flag_events', header: 'Feature Flag Hook', of: 'all', hasSample: false },
  { key: 'releases_events', header: 'Release Hook', of: 'all', hasSample: true },
  { key: 'milestone_events', header: 'Milestone Hook', of: 'all', hasSample: true },
  { key: 'emoji_events', header: 'Emoji Hook', of: 'all', hasSample: true },
  { key: 'resource_access_token_events', header: 'Resource Access Token Hook', of: 'all', hasSample: true },
  {
    key: 'resource_deploy_token_events',
    header: 'Resource Deploy Token Hook',
    of: 'projects',
    hasSample: true,
  },
  { key: 'vulnerability_events', header: 'Vulnerability Hook', of: 'projects', hasSample: false },
  { key: 'member_events', header: 'Member Hook', of: 'groups', hasSample: false },
  { key: 'project_events', header: 'Project Hook', of: 'groups', hasSample: false },
  { key: 'subgroup_events', header: 'Subgroup Hook', of: 'groups', hasSample: false },
];
