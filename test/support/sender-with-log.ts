import { randomBytes } from 'node:crypto';
import type { CallParts } from '../../schema/api/call.ts';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import type { SenderState } from '../../schema/sender.ts';
import type { LoggedDelivery } from '../../store/ports/delivery-log.ts';
import { type ApiClient, type FactoryDaemon, type ManagedDaemon, withNewFactory } from './management.ts';
import { type GithubApi, startGithubApi } from './senders/github-api.ts';
import type { GithubHook } from './senders/github-hooks.ts';
import { type GitlabApi, startGitlabApi } from './senders/gitlab-api.ts';
import type { GitlabHook } from './senders/gitlab-hooks.ts';

export type Missed = ApiAnswer<ApiRoutes['listMissed']>;
export type MissedEvent = Missed['events'][number];
export type Redelivered = ApiAnswer<ApiRoutes['redeliverMissed']>;

/** The doubles of a test file. An Enterprise Server has no rate limit, so that only ours sets the pace. */
export interface Providers {
  readonly github: GithubApi;
  readonly gitlab: GitlabApi;
}

export async function startProviders(): Promise<Providers> {
  const scopes = ['repo', 'admin:repo_hook'];
  const tokens = {
    'github-token': { kind: 'classic', scopes },
    'reading-token': { kind: 'fine-grained', repositoryHooks: 'read' },
  } as const;
  return { github: await startGithubApi({ basePath: '/api/v3', tokens }), gitlab: await startGitlabApi() };
}

/** The settings of a daemon that may ask the doubles. */
export function settingsFor({ github, gitlab }: Providers, deliveriesPerMinute = 10_000) {
  return { senders: { urls: [github.url, gitlab.url] }, limits: { deliveriesPerMinute } };
}

/** A webhook `shop` in a factory of its own whose provider has its hook, and the automation `triage` for some of its events. */
export interface SentTo {
  readonly daemon: FactoryDaemon;
  readonly client: ApiClient;
  readonly uid: string;
  readonly url: string;
  readonly signature: string;
  list(more?: Partial<CallParts<'listMissed'>['body']>): Promise<Missed>;
  redeliver(
    events: readonly (Pick<MissedEvent, 'eventId' | 'attemptId'> & Partial<Pick<MissedEvent, 'asked'>>)[],
    more?: { readonly again?: boolean; readonly listedAt?: string },
  ): Promise<Redelivered>;
  state(): Promise<SenderState | undefined>;
  /** Its rows in the delivery log, newest first. */
  rows(): Promise<LoggedDelivery[]>;
  /** Sets the clock of the daemon and of the providers forward. */
  advance(ms: number): void;
}

export interface SentToGithub extends SentTo {
  readonly hook: GithubHook;
}

export interface SentToGitlab extends SentTo {
  readonly hook: GitlabHook;
}

interface Given {
  readonly sender?: object;
  readonly credential?: string;
  readonly filter?: object;
}

const openedIssues = { headers: { 'X-GitHub-Event': ['issues'] }, payload: { action: ['opened'] } };

/** A webhook for the hook of a repository, whose automation waits for opened issues. */
export async function openSentToGithub(
  daemon: ManagedDaemon,
  providers: Providers,
  given: Given = {},
): Promise<SentToGithub> {
  const { github } = providers;
  for (const hook of github.hooks) hook.active = false;
  const sender = { provider: 'github', repository: 'acme/shop', url: github.url, ...given.sender };
  const filter = given.filter ?? openedIssues;
  const opened = await openSentTo(daemon, providers, {
    ...{ sender, filter, signatureScheme: 'github', credential: given.credential ?? 'github-token' },
  });
  const config = { url: opened.url, content_type: 'json', secret: opened.signature };
  const hook = github.addHook('acme/shop', { config, events: ['issues', 'push', 'star'] });
  return { ...opened, hook };
}

/** A webhook for the hook of a project, whose automation waits for pushes to main. */
export async function openSentToGitlab(
  daemon: ManagedDaemon,
  providers: Providers,
  given: Given = {},
): Promise<SentToGitlab> {
  const { gitlab } = providers;
  const sender = { provider: 'gitlab', project: 'acme/shop', url: gitlab.url, ...given.sender };
  const filter = given.filter ?? {
    headers: { 'X-Gitlab-Event': ['Push Hook'] },
    payload: { ref: ['refs/heads/main'] },
  };
  const credential = given.credential ?? 'gitlab-token';
  const opened = await openSentTo(daemon, providers, {
    ...{ sender, filter, signatureScheme: 'gitlab-token', credential },
  });
  const hook = gitlab.addHook('acme/shop', {
    ...{ url: opened.url, token: opened.signature, push_events: true, issues_events: true },
  });
  return { ...opened, hook };
}

async function openSentTo(
  shared: ManagedDaemon,
  { github, gitlab }: Providers,
  given: Required<Given> & { readonly signatureScheme: string },
): Promise<SentTo> {
  const daemon = withNewFactory(shared);
  const { factory, store } = daemon;
  const client = await daemon.client();
  const credentialSecret = `HOOKS_TOKEN_${randomBytes(4).toString('hex').toUpperCase()}`;
  await store.teamSecrets.set(credentialSecret, given.credential);
  const { signatureScheme, sender } = given;
  const webhook = { name: 'shop', authMode: 'signature', signatureScheme };
  const created = await client.call('createWebhook', {
    body: { ...webhook, sender: { ...sender, credentialSecret } },
  });
  if (created.status !== 201) throw new Error(created.text);
  const { uid, url } = created.json.webhook;
  const signature = randomBytes(16).toString('hex');
  await must(client, 'changeWebhookSecret', { params: { uid }, body: { value: signature } });
  const triggers = [
    { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], ...given.filter } },
  ];
  await must(client, 'createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  const now = () => new Date(daemon.clock.nowMs).toISOString();
  return {
    ...{ daemon, client, uid, url, signature },
    list: more => {
      const since = new Date(daemon.clock.nowMs - 3 * 86_400_000).toISOString();
      return must(client, 'listMissed', { params: { uid }, body: { since, ...more } });
    },
    redeliver: (events, { again = false, listedAt = now() } = {}) => {
      const named = events.map(({ eventId, attemptId, asked }) => {
        return { eventId, attemptId, again: again || asked?.isDue === true };
      });
      return must(client, 'redeliverMissed', { params: { uid }, body: { listedAt, events: named } });
    },
    state: async () => (await store.senderStates.read(factory)).find(state => state.uid === uid),
    rows: () => store.deliveries.listDeliveries({ factory, uid, limit: 100_000 }),
    advance: ms => {
      shared.clock.nowMs += ms;
      shared.clock.monotonicMs += ms;
      for (const { clock } of [github, gitlab]) clock.set(shared.clock.nowMs);
    },
  };
}

async function must<Id extends Parameters<ApiClient['call']>[0]>(
  client: ApiClient,
  id: Id,
  given: Parameters<ApiClient['call']>[1],
) {
  const { status, text, json } = await client.call(id, given);
  if (status >= 300) throw new Error(text);
  return json;
}
