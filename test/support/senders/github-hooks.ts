import { type GithubOwner, githubError } from './github-access.ts';
import type { ApiAnswer } from './sender-server.ts';

export interface GithubHook {
  readonly id: number;
  readonly owner: GithubOwner;
  active: boolean;
  events: readonly string[];
  config: GithubHookConfig;
  readonly createdAtMs: number;
  updatedAtMs: number;
  lastResponse: { readonly code: number | null; readonly status: string; readonly message: string | null };
}

/** With the secret that GitHub signs with, which no answer shows. */
export interface GithubHookConfig {
  readonly url: string;
  readonly content_type: 'json' | 'form';
  readonly insecure_ssl: '0' | '1';
  readonly secret?: string;
}

interface ConfigBody {
  readonly url?: string;
  readonly content_type?: string;
  readonly insecure_ssl?: string | number;
  readonly secret?: string;
}

export interface HookBody {
  readonly name?: string;
  readonly active?: boolean;
  readonly events?: readonly string[];
  readonly add_events?: readonly string[];
  readonly remove_events?: readonly string[];
  readonly config?: ConfigBody;
}

/** What a change came to: the changed part, or the refusal. */
type Changed<T> =
  | { readonly value: T; readonly refusal?: undefined }
  | { readonly refusal: ApiAnswer; readonly value?: undefined };

const mask = '********';

/**
 * Makes a hook. Without `content_type` it is a form, and without `events` it hears pushes. The texts of the refusals are
 * from readthedocs/readthedocs.org#2561 and grafana/grafana#129007. "Multiple webhooks can share the same `config` as
 * long as those webhooks do not have any `events` that overlap" (docs.github.com, "REST API endpoints for repository
 * webhooks", 2026-11). That the secret does not make two configs differ is assumed.
 */
export function makeGithubHook(
  others: readonly GithubHook[],
  owner: GithubOwner,
  id: number,
  body: HookBody,
  nowMs: number,
  perEventMax: number,
): Changed<GithubHook> {
  const config = makeConfig(body.config ?? {});
  if (!config.value) return config;
  const events = body.events ?? ['push'];
  const problems = findConflicts(others, owner, config.value, events, perEventMax);
  if (problems.length > 0) return { refusal: validationFailed(problems) };
  const value: GithubHook = {
    ...{ id, owner, active: body.active ?? true, events, config: config.value },
    ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
    lastResponse: { code: null, status: 'unused', message: null },
  };
  return { value };
}

/**
 * Changes a hook. A `config` takes the place of the whole config: without the secret, the hook has none ("you must
 * provide the same `secret` or set a new `secret` or the secret will be removed"). That the other fields then get their
 * defaults is assumed. The mask that reads show is taken for a secret (integrations/terraform-provider-github#171).
 */
export function changeGithubHook(hook: GithubHook, body: HookBody, nowMs: number): ApiAnswer | undefined {
  if (body.config) {
    const config = makeConfig(body.config);
    if (!config.value) return config.refusal;
    hook.config = config.value;
  }
  const events = new Set(body.events ?? hook.events);
  for (const event of body.add_events ?? []) events.add(event);
  for (const event of body.remove_events ?? []) events.delete(event);
  hook.events = [...events];
  hook.active = body.active ?? hook.active;
  hook.updatedAtMs = nowMs;
  return undefined;
}

/** Changes only the fields of the config that are given, unlike a change of the hook. */
export function changeGithubConfig(hook: GithubHook, body: ConfigBody, nowMs: number): ApiAnswer | undefined {
  const config = makeConfig({ ...hook.config, ...body });
  if (!config.value) return config.refusal;
  hook.config = config.value;
  hook.updatedAtMs = nowMs;
  return undefined;
}

/** A hook as reads show it. `address` is where the owner's hooks are. Only repositories' hooks have `last_response`. */
export function showGithubHook(hook: GithubHook, address: string): object {
  const url = `${address}/${hook.id}`;
  const shown = {
    ...{ id: hook.id, name: 'web', active: hook.active, events: hook.events, config: showGithubConfig(hook) },
    ...{ url, ping_url: `${url}/pings`, deliveries_url: `${url}/deliveries` },
    created_at: showGithubTime(hook.createdAtMs),
    updated_at: showGithubTime(hook.updatedAtMs),
  };
  if (hook.owner.kind === 'organization') return { ...shown, type: 'Organization' };
  return { ...shown, type: 'Repository', test_url: `${url}/test`, last_response: hook.lastResponse };
}

export function showGithubConfig({ config: { secret, ...shown } }: GithubHook): object {
  return secret === undefined ? shown : { ...shown, secret: mask };
}

/** A time without milliseconds. */
export function showGithubTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/\.\d+/, '');
}

/** Tells whether a hook is sent an event. `*` is all events. */
export function hears({ active, events }: GithubHook, event: string): boolean {
  return active && (events.includes(event) || events.includes('*'));
}

function makeConfig({
  url,
  content_type = 'form',
  insecure_ssl = '0',
  secret,
}: ConfigBody): Changed<GithubHookConfig> {
  if (!url) return { refusal: validationFailed(['Config must contain URL for webhooks']) };
  if (content_type !== 'json' && content_type !== 'form')
    return { refusal: validationFailed(['Config content_type must be json or form']) };
  const shared = { url, content_type, insecure_ssl: String(insecure_ssl) === '1' ? '1' : '0' } as const;
  return { value: secret ? { ...shared, secret } : shared };
}

function findConflicts(
  others: readonly GithubHook[],
  owner: GithubOwner,
  config: GithubHookConfig,
  events: readonly string[],
  perEventMax: number,
): readonly string[] {
  const siblings = others.filter(other => other.owner === owner);
  const isDuplicate = siblings.some(
    other =>
      other.config.url === config.url &&
      other.config.content_type === config.content_type &&
      other.config.insecure_ssl === config.insecure_ssl &&
      other.events.some(event => events.includes(event)),
  );
  if (isDuplicate) return [`Hook already exists on this ${owner.kind}`];
  return events
    .filter(event => siblings.filter(other => other.events.includes(event)).length >= perEventMax)
    .map(event => `The "${event}" event cannot have more than ${perEventMax} hooks`);
}

function validationFailed(messages: readonly string[]): ApiAnswer {
  const { status, body } = githubError(422, 'Validation Failed');
  const errors = messages.map(message => ({ resource: 'Hook', code: 'custom', message }));
  const { message, documentation_url } = body as { message: string; documentation_url: string };
  return { status, body: { message, documentation_url, errors } };
}
