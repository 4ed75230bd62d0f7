import type { DescribedOperation } from './api-description.ts';
import { type GithubOwner, githubError, githubNotFound } from './github-access.ts';
import {
  changeGithubConfig,
  changeGithubHook,
  type GithubHook,
  type HookBody,
  makeGithubHook,
  showGithubConfig,
  showGithubHook,
} from './github-hooks.ts';
import {
  type GithubDelivery,
  type GithubEvent,
  type GithubLog,
  hasGithubStatus,
  newGithubEvent,
  showGithubDelivery,
  showGithubItem,
} from './github-log.ts';
import type { ApiAnswer, ApiRequest, SenderServer } from './sender-server.ts';

/** What the operations work on. */
export interface GithubState {
  readonly server: SenderServer;
  readonly url: string;
  readonly owners: readonly GithubOwner[];
  readonly hooks: GithubHook[];
  readonly log: GithubLog;
  readonly hooksPerEventMax: number;
}

/** A request that was let in. */
export interface GithubCall extends GithubState {
  readonly owner: GithubOwner;
  readonly request: ApiRequest;
  readonly operation: DescribedOperation;
  readonly body: unknown;
}

const perPageMax = 100;
const perPageDefault = 30;

/** Does what a request asks for. */
export function operateGithub(call: GithubCall): ApiAnswer {
  const name = call.operation.id.replace(/^\w+\//, '').replace(/-for-(repo|org|app)$/, '');
  const operation = operations[name];
  if (!operation) throw new Error(`The double does not have ${call.operation.id}`);
  return operation(call);
}

export function newHookId({ hooks }: GithubState): number {
  return (hooks.at(-1)?.id ?? 12_345_677) + 1;
}

/** The operations, by the parts of their IDs that they share: `list-webhooks` of `repos/list-webhooks`. */
const operations: Readonly<Record<string, (call: GithubCall) => ApiAnswer>> = {
  'list-webhooks': call => {
    const all = call.hooks.filter(({ owner }) => owner === call.owner);
    const { items, headers } = takePage(call, all);
    return { status: 200, headers, body: items.map(hook => showGithubHook(hook, addressOf(call))) };
  },
  'create-webhook': call => {
    const { hooks, owner, server, body, hooksPerEventMax: max } = call;
    const made = makeGithubHook(
      hooks,
      owner,
      newHookId(call),
      (body ?? {}) as HookBody,
      server.clock.now(),
      max,
    );
    if (made.refusal) return made.refusal;
    hooks.push(made.value);
    // A new webhook is sent a ping (docs.github.com, "About webhooks" of Enterprise Server 3.3).
    if (made.value.active) ping(call, made.value);
    const address = addressOf(call);
    const headers = { location: `${address}/${made.value.id}` };
    return { status: 201, headers, body: showGithubHook(made.value, address) };
  },
  'get-webhook': ofHook((call, hook) => ({ status: 200, body: showGithubHook(hook, addressOf(call)) })),
  'update-webhook': ofHook((call, hook) => {
    const refusal = changeGithubHook(hook, call.body as HookBody, call.server.clock.now());
    return refusal ?? { status: 200, body: showGithubHook(hook, addressOf(call)) };
  }),
  'delete-webhook': ofHook(({ hooks }, hook) => {
    hooks.splice(hooks.indexOf(hook), 1);
    return { status: 204 };
  }),
  'get-webhook-config': ofHook((_call, hook) => ({ status: 200, body: showGithubConfig(hook) })),
  'update-webhook-config': ofHook(({ body, server }, hook) => {
    const refusal = changeGithubConfig(hook, body ?? {}, server.clock.now());
    return refusal ?? { status: 200, body: showGithubConfig(hook) };
  }),
  'ping-webhook': ofHook((call, hook) => {
    ping(call, hook);
    return { status: 204 };
  }),
  'list-webhook-deliveries': ofHook(listDeliveries),
  'get-webhook-delivery': ofDelivery((_call, _hook, delivery) => ({
    ...{ status: 200, body: showGithubDelivery(delivery) },
  })),
  'redeliver-webhook-delivery': ofDelivery(({ server, log }, hook, delivery) => {
    const { guid, event, action, payload, repositoryId, installationId } = delivery;
    const again: GithubEvent = { guid, event, action, payload, repositoryId, installationId };
    server.afterwards(() => log.deliver(hook, again, true));
    return { status: 202, body: {} };
  }),
};

function ofHook(work: (call: GithubCall, hook: GithubHook) => ApiAnswer): (call: GithubCall) => ApiAnswer {
  return call => {
    const id = call.operation.parameters.hook_id;
    const isNamed = ({ owner, id: known }: GithubHook) =>
      owner === call.owner && (owner.kind === 'app' || String(known) === id);
    const hook = call.hooks.find(isNamed);
    return hook ? work(call, hook) : githubNotFound;
  };
}

function ofDelivery(
  work: (call: GithubCall, hook: GithubHook, delivery: GithubDelivery) => ApiAnswer,
): (call: GithubCall) => ApiAnswer {
  return ofHook((call, hook) => {
    const id = call.operation.parameters.delivery_id;
    const delivery = call.log.shown(hook).find(known => String(known.id) === id);
    return delivery ? work(call, hook, delivery) : githubNotFound;
  });
}

/** A page begins at the delivery of its cursor, so newer deliveries do not move it. */
function listDeliveries(call: GithubCall, hook: GithubHook): ApiAnswer {
  const { query } = call.request;
  const cursor = query.get('cursor');
  const from = /^v1_(\d+)$/.exec(cursor ?? '')?.[1];
  if (cursor !== null && from === undefined) {
    call.server.violations.push(`${call.request.path}: the cursor ${cursor} is not one that an answer had`);
    return githubError(422, 'Invalid cursor');
  }
  const all = call.log
    .shown(hook)
    .filter(delivery => hasGithubStatus(delivery, query.get('status')))
    .filter(({ id }) => from === undefined || id <= BigInt(from));
  const count = readPerPage(call);
  const next = all[count];
  const headers: Record<string, string> = next
    ? { link: link(call, { cursor: `v1_${next.id}` }, 'next') }
    : {};
  return { status: 200, headers, body: all.slice(0, count).map(showGithubItem) };
}

function takePage<T>(call: GithubCall, all: readonly T[]) {
  const count = readPerPage(call);
  const page = Number(call.request.query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(all.length / count));
  const links = [
    ...(page > 1 ? [link(call, { page: page - 1 }, 'prev'), link(call, { page: 1 }, 'first')] : []),
    ...(page < last ? [link(call, { page: page + 1 }, 'next'), link(call, { page: last }, 'last')] : []),
  ];
  const headers: Record<string, string> = links.length > 0 ? { link: links.join(', ') } : {};
  return { items: all.slice((page - 1) * count, page * count), headers };
}

/** GitHub takes a larger number for its maximum. Whoever asks for more counts on more than there is. */
function readPerPage({ request, server }: GithubCall): number {
  const asked = Number(request.query.get('per_page') ?? perPageDefault);
  if (asked < 1 || asked > perPageMax) server.violations.push(`${request.path}: per_page is ${asked}`);
  return Math.min(Math.max(asked, 1), perPageMax);
}

function link(
  { request, server }: GithubCall,
  changed: Readonly<Record<string, string | number>>,
  rel: string,
): string {
  const query = new URLSearchParams(request.query);
  for (const [name, value] of Object.entries(changed)) query.set(name, String(value));
  return `<${server.origin}${request.path}?${query}>; rel="${rel}"`;
}

function ping(call: GithubCall, hook: GithubHook): void {
  const payload = {
    zen: 'Keep it logically awesome.',
    hook_id: hook.id,
    hook: showGithubHook(hook, addressOf(call)),
  };
  const repositoryId = hook.owner.kind === 'repository' ? hook.owner.id : null;
  const event = newGithubEvent({ event: 'ping', action: null, payload, repositoryId, installationId: null });
  call.server.afterwards(() => call.log.deliver(hook, event, false));
}

function addressOf({ url, owner: { kind, name } }: GithubCall): string {
  return `${url}/${kind === 'repository' ? 'repos' : 'orgs'}/${name}/hooks`;
}
