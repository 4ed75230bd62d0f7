import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { z } from 'zod';
import { createTextFinder } from '../json/find-json-text.ts';
import { type ProviderHook, showHookUrl } from '../schema/sender.ts';
import { type AskProvider, createAsk, parseProviderAnswer, pathSegment } from './ask-provider.ts';
import {
  type AttemptsPage,
  findNewest,
  type ProviderAttempt,
  type ProviderClient,
  ProviderError,
  type WantedHook,
} from './provider-client.ts';

/** @limit Time in which GitHub must answer each request, in ms: GitHub itself gives up after 10 s. */
const answerMs = 15_000;
/** @limit Longest answer of GitHub, in bytes: 100 deliveries have about 50 KB, as the list has no payloads, and 100 hooks about 100 KB. */
const answerBytesMax = 1024 * 1024;
/** @limit Pages of 100 hooks that are read of a repository or an organization: GitHub allows 20 hooks for each event. */
const hookPagesMax = 10;

/** The text that stands for every secret in GitHub's answers. GitHub would take it as the new secret of a hook. */
const secretMask = '********';

/**
 * Events that every GitHub App receives, without a subscription
 * (docs.github.com/en/webhooks/webhook-events-and-payloads, 2026-11-27).
 */
const eventsOfAllApps = ['github_app_authorization', 'installation', 'installation_repositories'];

/** The repository as `owner/name`, the organization by its name, or the GitHub App by its client ID or application ID. */
export type GitHubTarget =
  | { readonly repository: string }
  | { readonly organization: string }
  | { readonly app: string | number };

export interface GitHubClientOptions {
  readonly target: GitHubTarget;
  /** A GitHub Enterprise Server, with or without /api/v3, or GHE.com; without it, github.com. */
  readonly url?: string | undefined;
  /** A token; of an app, its private key in PEM. */
  readonly credential: string;
  /** Whether the operator lets the server have a private address, or no https. */
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
  readonly nowMs: () => number;
}

/**
 * Creates a client of GitHub's REST API for the hooks of a repository or an organization, or for the one hook of a GitHub
 * App (docs.github.com/en/rest/repos/webhooks, …/rest/orgs/webhooks and …/rest/apps/webhooks, 2026-11-27). GitHub keeps its
 * log of deliveries for three days. Fails with ProviderError for a name that is not valid. Every event of a hook is named as `X-GitHub-Event` has it.
 */
export function createGitHubClient(options: GitHubClientOptions): ProviderClient {
  const { target, url, credential, isTrusted, stopping, nowMs } = options;
  const baseUrl = resolveGitHubApi(url);
  const isServer = new URL(baseUrl).pathname !== '/';
  const ask = createAsk({
    ...{ provider: 'GitHub', baseUrl, isTrusted, stopping, nowMs },
    bounds: { answerMs, answerBytesMax },
    headers: {
      Accept: 'application/vnd.github+json',
      // The newest version that each of them has: GitHub Enterprise Server has the other one from 3.21 on only, and answers
      // 400 before (docs.github.com/en/rest/about-the-rest-api/api-versions, 2026-11-27).
      'X-GitHub-Api-Version': isServer ? '2022-11-28' : '2026-03-10',
    },
    makeToken: 'app' in target ? createAppToken(String(target.app), credential, nowMs) : () => credential,
    authorize: token => ({ Authorization: `Bearer ${token}` }),
    neededRights: describeRights(target),
  });
  return 'app' in target ? createAppClient(ask) : createHooksClient(ask, pathOfHooks(target));
}

/**
 * The URL of GitHub's API, without a slash at its end, for the URL of a GitHub Enterprise Server or of GHE.com, as people or
 * the API have it (docs.github.com/en/enterprise-server/rest/quickstart and
 * docs.github.com/en/enterprise-cloud@latest/admin/data-residency, 2026-11-27).
 */
export function resolveGitHubApi(url = 'https://github.com'): string {
  const { protocol, host, hostname, pathname } = new URL(url);
  if (hostname === 'github.com' || hostname === 'www.github.com') return 'https://api.github.com';
  if (hostname === 'api.github.com' || /^api\.[^.]+\.ghe\.com$/.test(hostname)) return `https://${hostname}`;
  if (/^[^.]+\.ghe\.com$/.test(hostname)) return `https://api.${hostname}`;
  return `${protocol}//${host}${pathname.replace(/\/+$/, '').replace(/\/api\/v3$/, '')}/api/v3`;
}

function pathOfHooks(target: Exclude<GitHubTarget, { app: unknown }>): string {
  if ('organization' in target) return `/orgs/${pathSegment(target.organization)}/hooks`;
  return `/repos/${target.repository.split('/').map(pathSegment).join('/')}/hooks`;
}

/** The rights as docs.github.com/en/rest/authentication/permissions-required-for-fine-grained-personal-access-tokens names them, 2026-11-27. */
function describeRights(target: GitHubTarget): string {
  if ('app' in target) return 'the private key of this app and its client ID or application ID';
  const isOrganization = 'organization' in target;
  const [kind, scope] = isOrganization ? ['organization', 'org'] : ['repository', 'repo'];
  const write = 'write to register a hook, to ping it or to send again';
  return `the ${kind} permission "Webhooks" (read, or ${write}), or the classic scope admin:${scope}_hook`;
}

/** The hooks of a repository or an organization, whose endpoints are alike. */
function createHooksClient(ask: AskProvider, path: string): ProviderClient {
  const hookPath = (id: string) => `${path}/${pathSegment(id)}`;
  const write = async (method: 'POST' | 'PATCH', at: string, wanted: WantedHook) => {
    const { events, secret } = wanted;
    // A PATCH whose config has no secret removes it, so that GitHub would no longer sign. Without content_type, GitHub sends
    // forms (docs.github.com/en/rest/repos/webhooks, 2026-11-27).
    const json = { active: true, events, config: makeConfig(wanted) };
    const named = method === 'POST' ? { name: 'web', ...json } : json;
    return toHook(
      parseProviderAnswer('GitHub', await ask({ method, path: at, json: named, secret }), hookShape),
    );
  };
  return {
    listHooks: async () => {
      const hooks: ProviderHook[] = [];
      let page: string | null = '1';
      for (let pages = 0; page !== null; pages++) {
        if (pages === hookPagesMax)
          throw new ProviderError('refused', `GitHub lists more than ${hookPagesMax * 100} hooks.`);
        const answer = await ask({ path, query: { per_page: '100', page } });
        hooks.push(...parseProviderAnswer('GitHub', answer, z.array(hookShape)).map(toHook));
        page = findNext(answer.headers.link, 'page');
      }
      return hooks;
    },
    createHook: wanted => write('POST', path, wanted),
    changeHook: async (id, wanted) => write('PATCH', hookPath(id), wanted),
    ping: async ({ id }) => void (await ask({ method: 'POST', path: `${hookPath(id)}/pings` })),
    listAttempts: async (id, cursor) => listAttempts(ask, hookPath(id), cursor),
    redeliver: async (id, attemptId) => redeliver(ask, hookPath(id), attemptId),
  };
}

/** The one hook of a GitHub App. Its events are part of the registration of the app, which the API only shows. */
function createAppClient(ask: AskProvider): ProviderClient {
  const path = '/app/hook';
  const toAppHook = (config: z.output<typeof configShape>, events: readonly string[]) =>
    toHook({ id: 'app', active: true, events: [...events], config });
  const listEvents = async () => {
    const { events } = parseProviderAnswer('GitHub', await ask({ path: '/app' }), appShape);
    return [...new Set([...events, ...eventsOfAllApps])].sort();
  };
  return {
    listHooks: async () => {
      const events = await listEvents();
      const config = parseProviderAnswer('GitHub', await ask({ path: `${path}/config` }), configShape);
      return config.url === '' ? [] : [toAppHook(config, events)];
    },
    createHook: async () => {
      const remedy = 'Set a webhook URL and a secret on the settings page of the app';
      throw new ProviderError('refused', `GitHub's API cannot create the hook of an app. ${remedy}.`);
    },
    changeHook: async (_, wanted) => {
      const events = await listEvents();
      const missing = wanted.events.filter(event => !events.includes(event));
      if (missing.length > 0) {
        const remedy = `Subscribe to ${missing.join(', ')} on the page "Permissions & events" of the app`;
        throw new ProviderError('refused', `GitHub's API cannot change the events of an app. ${remedy}.`);
      }
      const { secret } = wanted;
      const answer = await ask({ method: 'PATCH', path: `${path}/config`, json: makeConfig(wanted), secret });
      return toAppHook(parseProviderAnswer('GitHub', answer, configShape), events);
    },
    ping: async () => {
      const remedy = 'Send a delivery again on the page "Advanced" of the app';
      throw new ProviderError('refused', `GitHub's API cannot ping the hook of an app. ${remedy}.`);
    },
    listAttempts: (_, cursor) => listAttempts(ask, path, cursor),
    redeliver: (_, attemptId) => redeliver(ask, path, attemptId),
  };
}

function makeConfig({ url, secret, contentType }: WantedHook) {
  if (secret === '' || secret === secretMask)
    throw new ProviderError(
      'refused',
      `The secret of the hook is ${secret === '' ? 'empty' : "GitHub's mask"}.`,
    );
  return { url, content_type: contentType, insecure_ssl: '0', secret };
}

const configShape = z.object({
  url: z
    .string()
    .nullish()
    .transform(url => url ?? ''),
  content_type: z.string().nullish(),
  insecure_ssl: z.union([z.string(), z.number()]).nullish(),
  secret: z.string().nullish(),
});
const hookShape = z.object({
  id: z.union([z.int(), z.literal('app')]),
  active: z.boolean(),
  events: z.array(z.string()),
  config: configShape,
  last_response: z
    .object({ code: z.number().nullish(), status: z.string().nullish(), message: z.string().nullish() })
    .nullish(),
});
const appShape = z.object({ events: z.array(z.string()) });
const attemptsShape = z.array(
  z.object({
    guid: z.string(),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.number(),
    event: z.string(),
    action: z.string().nullish(),
  }),
);

function toHook({
  id,
  active,
  events,
  config,
  last_response: last,
}: z.output<typeof hookShape>): ProviderHook {
  const { url, content_type, insecure_ssl, secret } = config;
  // "unused", without a code and a message, until the first delivery.
  const hasAnswered = last && (last.code != null || last.message != null);
  return {
    ...{
      id: String(id),
      url: showHookUrl(url),
      events: [...events].sort(),
      isActive: active,
      disabledUntil: null,
    },
    contentType: content_type === 'json' ? 'json' : 'form',
    verifiesTls: String(insecure_ssl ?? '0') === '0',
    hasSecret: secret != null && secret !== '',
    lastAnswer: hasAnswered
      ? { status: toStatus(last.code), message: last.message ?? last.status ?? '' }
      : null,
  };
}

/** A status that somebody answered; null for 0, which GitHub has if nobody did. */
function toStatus(code: number | null | undefined): number | null {
  return code != null && code >= 100 ? code : null;
}

/** Lists all deliveries: a list of failed ones would not have the later success of one that was sent again. */
async function listAttempts(ask: AskProvider, path: string, cursor: string | null): Promise<AttemptsPage> {
  const query = { per_page: '100', ...(cursor !== null && { cursor }) };
  const answer = await ask({ path: `${path}/deliveries`, query });
  const listed = parseProviderAnswer('GitHub', answer, attemptsShape);
  const findText = createTextFinder(answer.body);
  const attempts = listed.map(
    ({ guid, delivered_at, status_code, event, action }, index): ProviderAttempt => ({
      // Of type int64: as a number, it could lose digits.
      id: findText([index, 'id']) ?? '',
      ...{ eventId: guid, event, action: action ?? null, canRedeliver: true },
      ...{ atMs: Date.parse(delivered_at), status: toStatus(status_code) },
    }),
  );
  const newestMs = findNewest(attempts.map(({ atMs }) => atMs));
  const next = findNext(answer.headers.link, 'cursor');
  return { attempts, entries: listed.length, newestMs, next };
}

async function redeliver(ask: AskProvider, path: string, attemptId: string): Promise<void> {
  await ask({ method: 'POST', path: `${path}/deliveries/${pathSegment(attemptId)}/attempts` });
}

/**
 * Finds a parameter of the next page in a `Link` header (RFC 8288); null if there is no next page
 * (docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api, 2026-11-27). Only the parameter is used,
 * so that no link leads the credential to another server.
 */
function findNext(link: string | readonly string[] | undefined, parameter: string): string | null {
  const [, url = ''] = /<([^<>]*)>\s*;[^,<]*\brel="?next"?/.exec(String(link ?? '')) ?? [];
  return URL.parse(url)?.searchParams.get(parameter) ?? null;
}

/** @limit Life of a token of a GitHub App, in seconds: GitHub refuses more than 600, and its clock may be behind. */
const tokenLifeSeconds = 540;
/** Tokens begin this long ago, so that GitHub takes them if its clock is behind, as its documentation recommends. */
const clockDriftSeconds = 60;

/**
 * Makes a function that signs a token as a GitHub App (RFC 7519, RS256)
 * (docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app,
 * 2026-11-27). `app` is its client ID or application ID, and `privateKey` is PEM: PKCS #1, as GitHub makes it, or PKCS #8.
 * The function fails with ProviderError if `privateKey` is not a private key.
 */
function createAppToken(app: string, privateKey: string, nowMs: () => number): () => string {
  return () => {
    const now = Math.floor(nowMs() / 1_000);
    const claims = { iat: now - clockDriftSeconds, exp: now + tokenLifeSeconds, iss: app };
    const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
      .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(signed), readKey(privateKey)).toString('base64url');
    return `${signed}.${signature}`;
  };
}

function readKey(privateKey: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    // Told below, as a key of another kind is. The error could quote the key.
  }
  if (key?.asymmetricKeyType === 'rsa') return key;
  const remedy = 'Use a private key that GitHub made for the app, as a PEM file with RSA PRIVATE KEY';
  throw new ProviderError(
    'refused',
    `The credential of the GitHub App is not an RSA private key. ${remedy}.`,
  );
}
