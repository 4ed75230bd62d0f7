/** What has hooks. */
export interface GitlabOwner {
  readonly kind: 'projects' | 'groups';
  readonly id: number;
  /** `acme/shop`. */
  readonly path: string;
}

export interface GitlabHook {
  readonly id: number;
  readonly owner: GitlabOwner;
  url: string;
  /** The secret token, which no answer shows. */
  token: string | undefined;
  /** The signing token, which no answer shows either. */
  signingToken: string | undefined;
  /** The events that it hears, such as `push_events`. */
  events: ReadonlySet<string>;
  readonly createdAtMs: number;
  /** The other fields of the API, as they were given. */
  fields: Readonly<Record<string, unknown>>;
  /** Failures since the last success. */
  recentFailures: number;
  disabledUntilMs: number | undefined;
}

export type GitlabHookBody = Readonly<Record<string, unknown>>;

const eventNames = (
  'push issues confidential_issues merge_requests tag_push note confidential_note job pipeline wiki_page ' +
  'deployment feature_flag releases milestone emoji resource_access_token'
)
  .split(' ')
  .map(name => `${name}_events`);
const ownEvents = {
  projects: ['vulnerability_events', 'resource_deploy_token_events'],
  groups: ['subgroup_events', 'member_events', 'project_events'],
};

// app/models/concerns/web_hooks/auto_disabling.rb (2026-11)
const failuresBeforeBackOff = 3;
const failuresBeforeDisabled = 39;
const firstBackOffMs = 60_000;
const longestBackOffMs = 24 * 3_600_000;

/** That a new hook hears pushes unless it is told not to is assumed. */
export function makeGitlabHook(
  owner: GitlabOwner,
  id: number,
  body: GitlabHookBody,
  nowMs: number,
): GitlabHook {
  const hook: GitlabHook = {
    ...{
      id,
      owner,
      url: '',
      token: undefined,
      signingToken: undefined,
      events: new Set(['push_events']),
      createdAtMs: nowMs,
    },
    ...{ fields: {}, recentFailures: 0, disabledUntilMs: undefined },
  };
  changeGitlabHook(hook, { enable_ssl_verification: true, ...body });
  return hook;
}

/**
 * Changes what the body names. Another URL takes the secret token away, and the values of custom headers, unless the body
 * has them too (`reset_token` in app/models/concerns/web_hooks/hook.rb, 2026-11).
 */
export function changeGitlabHook(hook: GitlabHook, body: GitlabHookBody): void {
  const { url, token, signing_token: signingToken, ...fields } = body;
  if (typeof url === 'string' && url !== hook.url) {
    hook.url = url;
    hook.token = undefined;
    hook.fields = { ...hook.fields, custom_headers: [], url_variables: [] };
  }
  if (typeof token === 'string') hook.token = token === '' ? undefined : token;
  if (typeof signingToken === 'string') hook.signingToken = signingToken || undefined;
  const events = new Set(hook.events);
  for (const name of eventsOf(hook.owner)) {
    if (fields[name] === true) events.add(name);
    if (fields[name] === false) events.delete(name);
  }
  hook.events = events;
  hook.fields = { ...hook.fields, ...fields };
}

/** Before 19.0, a hook did not say which tokens it has (gitlab-org/gitlab!231325). */
export function showGitlabHook(hook: GitlabHook, nowMs: number, tellsTokens: boolean): object {
  const { owner, fields, disabledUntilMs } = hook;
  const keys = (name: string) =>
    ((fields[name] ?? []) as { readonly key: string }[]).map(({ key }) => ({ key }));
  return {
    ...{ id: hook.id, url: hook.url, created_at: new Date(hook.createdAtMs).toISOString() },
    [owner.kind === 'projects' ? 'project_id' : 'group_id']: owner.id,
    ...Object.fromEntries(eventsOf(owner).map(name => [name, hook.events.has(name)])),
    ...{
      name: fields.name ?? null,
      description: fields.description ?? null,
      repository_update_events: false,
    },
    enable_ssl_verification: fields.enable_ssl_verification,
    push_events_branch_filter: fields.push_events_branch_filter ?? null,
    branch_filter_strategy: fields.branch_filter_strategy ?? 'wildcard',
    custom_webhook_template: fields.custom_webhook_template ?? null,
    ...{ custom_headers: keys('custom_headers'), url_variables: keys('url_variables') },
    ...(tellsTokens && {
      token_present: hook.token !== undefined,
      signing_token_present: hook.signingToken !== undefined,
    }),
    alert_status: gitlabAlertStatus(hook, nowMs),
    disabled_until: disabledUntilMs === undefined ? null : new Date(disabledUntilMs).toISOString(),
  };
}

export function gitlabAlertStatus(
  { recentFailures, disabledUntilMs }: GitlabHook,
  nowMs: number,
): 'executable' | 'disabled' | 'temporarily_disabled' {
  if (recentFailures > failuresBeforeDisabled) return 'disabled';
  if (recentFailures > failuresBeforeBackOff && (disabledUntilMs ?? 0) >= nowMs)
    return 'temporarily_disabled';
  return 'executable';
}

/** Counts a delivery. The 4th failure in a row disables the hook for a minute, each further one for twice as long. */
export function countGitlabOutcome(hook: GitlabHook, isSuccess: boolean, nowMs: number): void {
  if (isSuccess) {
    hook.recentFailures = 0;
    hook.disabledUntilMs = undefined;
    return;
  }
  if (gitlabAlertStatus(hook, nowMs) !== 'executable') return;
  const before = hook.recentFailures;
  hook.recentFailures = before + 1;
  if (hook.recentFailures <= failuresBeforeBackOff) return;
  const backOffMs = Math.min(firstBackOffMs * 2 ** (before - failuresBeforeBackOff), longestBackOffMs);
  hook.disabledUntilMs = nowMs + backOffMs;
}

function eventsOf({ kind }: GitlabOwner): readonly string[] {
  const shared = [...eventNames, ...ownEvents[kind]];
  return shared;
}
