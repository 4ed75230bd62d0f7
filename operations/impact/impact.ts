import { isDeepStrictEqual } from 'node:util';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import type {
  AutomationImpact,
  IdentityImpact,
  Impact,
  SenderAuthentication,
  WebhookEffect,
  WebhookImpact,
} from '../../schema/changes/plan-shapes.ts';
import { type RunControl, runControlFields } from '../../schema/definitions/automation-definition.ts';
import { listListeners } from '../../schema/definitions/judge-trigger.ts';
import {
  findFormFormat,
  type WebhookDefinition,
  type WebhookKeys,
} from '../../schema/definitions/webhook-definition.ts';
import { toReleasedIdentity } from '../../schema/delivery.ts';
import { encodeHeaderValue } from '../../schema/header-value.ts';
import { compileIdentity, type Identity } from '../../schema/identity.ts';
import { listSchemeIdHeaders } from '../../schema/kept-headers.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { Change } from '../plan/plan.ts';
import {
  type DeliveryHistory,
  type History,
  type PastDelivery,
  pastBytesMax,
  pastDeliveriesMax,
} from './history.ts';
import { judgeAutomations, type PayloadObserver } from './judge-automations.ts';

/** Finds the impact of each change on senders and runs. A change without an entry has none. */
export async function findImpacts(
  changes: readonly Change[],
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: History,
  observer?: PayloadObserver,
): Promise<ReadonlyMap<Change, Impact>> {
  const impacts = new Map<Change, Impact>();
  for (const change of changes) {
    if (change.kind !== 'webhook') continue;
    const impact = await findWebhookImpact(change, desired, applied, history);
    if (impact) impacts.set(change, impact);
  }
  const judged = await judgeAutomations(
    changes.filter(isJudged).map(({ name }) => name),
    desired,
    applied,
    history,
    observer,
  );
  for (const change of changes) {
    if (change.kind !== 'automation') continue;
    const impact = isJudged(change) ? judged.get(change.name) : undefined;
    const left = await findLeftRuns(change, history);
    // Without a stored delivery or a queued run, nothing can be said of an automation that is destroyed.
    const isSilent = !impact || (impact.judged === 0 && change.action === 'delete');
    if (left || !isSilent) impacts.set(change, { ...(impact ?? unjudged), ...left });
  }
  return impacts;
}

/** The impact of a change that does not affect which runs start. */
const unjudged: AutomationImpact = {
  ...{ kind: 'automation', judged: 0, startedBefore: 0, startedAfter: 0, changed: 0, examples: [] },
  runs: { before: { runs: 0, stopped: 0 }, after: { runs: 0, stopped: 0 } },
};

/** Finds the queued runs that a change leaves as they are, and the changed keys that they keep; undefined if there are none. */
async function findLeftRuns(
  { action, name, fields }: Change,
  history: History,
): Promise<Pick<AutomationImpact, 'queued' | 'kept'> | undefined> {
  const kept = Object.keys(runControlFields).filter(key => fields.some(({ field }) => field === key));
  const isLeft = action === 'delete' || (action === 'update' && kept.length > 0);
  const queued = isLeft ? await history.countQueued(name) : 0;
  if (queued === 0) return undefined;
  return { queued, ...(action === 'update' && { kept }) };
}

/** The fields of an automation that reduce the number of runs. */
const fewerRunsFields: readonly string[] = ['debounce', 'runsPerHour'] satisfies (keyof RunControl)[];
/** The fields that do not affect which runs start. */
const otherFields = ['prompt', ...Object.keys(runControlFields)].filter(
  field => !fewerRunsFields.includes(field),
);

/** Whether a change may affect which runs start. */
function isJudged({ kind, action, fields }: Change): boolean {
  if (kind !== 'automation' || action === 'no-op') return false;
  return action !== 'update' || fields.some(({ field }) => !otherFields.includes(field));
}

async function findWebhookImpact(
  change: Change,
  desired: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: AppliedState,
  history: History,
): Promise<WebhookImpact | undefined> {
  const webhook = applied.webhooks.find(({ name }) => name === change.name);
  if (!webhook) return undefined;
  const after = desired.webhooks.find(({ name }) => name === change.name);
  const effects = findEffects(change, webhook);
  if (after && !isDeepStrictEqual(findFormFormat(webhook), findFormFormat(after)))
    effects.push('payload-changed');
  if (effects.length === 0) return undefined;
  const previousUntil = change.fields.find(({ field }) => field === 'secret')?.previousUntil;
  const silent = effects.includes('url-gone') || effects.includes('disabled');
  const listening = listListeners(desired.automations, webhook.uid).filter(({ enabled }) => enabled);
  const identities =
    after && effects.includes('identity-changed')
      ? await judgeIdentities(webhook, after, history)
      : undefined;
  return {
    kind: 'webhook',
    effects,
    ...(previousUntil !== undefined && effects.includes('credential-changed') && { previousUntil }),
    ...(after &&
      effects.includes('authentication-changed') && {
        authentication: { before: toAuthentication(webhook), after: toAuthentication(after) },
      }),
    ...(identities && { identities }),
    traffic: await history.countTraffic(webhook),
    silenced: silent ? listening.map(({ name }) => name) : [],
  };
}

/** The effects of a changed field. A field that is not here has none on senders. */
const fieldEffects: Readonly<Record<string, WebhookEffect>> = {
  authMode: 'authentication-changed',
  signatureScheme: 'authentication-changed',
  tokenHeader: 'authentication-changed',
  tokenPrefix: 'authentication-changed',
  tokenScheme: 'authentication-changed',
  tokenUser: 'authentication-changed',
  issuer: 'authentication-changed',
  audience: 'authentication-changed',
  claims: 'authentication-changed',
  secretName: 'credential-changed',
  secret: 'credential-changed',
  deliveryIdHeader: 'identity-changed',
  deliveryIdField: 'identity-changed',
  identity: 'identity-changed',
};

function findEffects({ action, fields, former }: Change, { credential }: AppliedWebhook): WebhookEffect[] {
  if (action === 'delete') return ['url-gone'];
  if (former && fields.some(({ field, after }) => field === 'enabled' && after === true)) return ['enabled'];
  if (action !== 'update') return [];
  const effects = fields.flatMap(({ field, before, after }): WebhookEffect[] => {
    if (field === 'enabled') return [after === true ? 'enabled' : 'disabled'];
    const effect = fieldEffects[field];
    if (effect === undefined) return [];
    const inUrl = field === 'authMode' && (before === 'url_token' || after === 'url_token');
    return inUrl ? ['url-changed', effect] : [effect];
  });
  // Without a value, the secret was not a credential yet, so no sender is affected.
  const untold = credential.kind === 'unset' ? ofCredentials : [];
  const covered = effects.includes('authentication-changed') ? ['credential-changed'] : [];
  return [...new Set(effects)].filter(effect => ![...untold, ...covered].includes(effect));
}

const ofCredentials: readonly string[] = ['authentication-changed', 'credential-changed'];

function toAuthentication(webhook: Omit<WebhookDefinition, 'name'>): SenderAuthentication {
  const { authMode, signatureScheme: scheme, secretName = null, issuer = null } = webhook;
  return { authMode, signatureScheme: typeof scheme === 'string' ? scheme : null, secretName, issuer };
}

/**
 * Identifies the last accepted deliveries of a webhook as its new definition would. Undefined if that definition names a
 * header which was not kept of them.
 */
async function judgeIdentities(
  before: AppliedWebhook,
  after: WebhookKeys,
  history: DeliveryHistory,
): Promise<IdentityImpact | undefined> {
  const header = after.deliveryIdHeader?.toLowerCase();
  const identify = compileIdentity(after);
  const identified: (Identity & Pick<PastDelivery, 'atMs'>)[] = [];
  let [changed, bytes] = [0, 0];
  for (const delivery of await history.listLastAccepted(before, pastDeliveriesMax)) {
    const { id, atMs, size, headers = {}, identity, identitySource } = delivery;
    bytes += size;
    if (bytes > pastBytesMax) break;
    if (header !== undefined && headers[header] === undefined) return undefined;
    const read = await history.readPayload(id);
    if (!read || identity === undefined) continue;
    const next = identify({ ...toRequest(delivery, after), ...read });
    // A delivery without one is identified by itself, and one that is no longer compared had it before.
    const { identity: own = id } = next;
    const isSame = identity === own || identity === toReleasedIdentity(own, id);
    const isKept = next.identitySource === identitySource && isSame;
    changed += isKept ? 0 : 1;
    identified.push({ ...next, atMs });
  }
  const judged = identified.length;
  return judged === 0 ? undefined : { judged, changed, duplicates: countDuplicates(identified.reverse()) };
}

/** Counts the duplicates among deliveries, the oldest first. */
function countDuplicates(deliveries: readonly (Identity & Pick<PastDelivery, 'atMs'>)[]): number {
  const accepted = new Map<string, number>();
  return deliveries.filter(({ identity, identitySource, sameForMs = Infinity, atMs }) => {
    if (identity === undefined) return false;
    const key = `${identitySource}\n${identity}`;
    const isDuplicate = atMs - (accepted.get(key) ?? -Infinity) < sameForMs;
    if (!isDuplicate) accepted.set(key, atMs);
    return isDuplicate;
  }).length;
}

/** The headers of a logged delivery that can identify it, as they were sent: in Latin-1. */
function toRequest({ headers = {}, identity = '', identitySource }: PastDelivery, after: WebhookKeys) {
  const sent = Object.entries(headers).map(([name, text]) => [name, encodeHeaderValue(text)]);
  const service = identitySource === 'X-Service-Delivery-Id' && {
    'x-service-delivery-id': encodeHeaderValue(identity),
  };
  const all: Record<string, string> = { ...Object.fromEntries(sent), ...service };
  const schemeDeliveryId = listSchemeIdHeaders(after.signatureScheme)
    .map(name => all[name.toLowerCase()])
    .find(value => value !== undefined);
  return { headers: all, schemeDeliveryId };
}
