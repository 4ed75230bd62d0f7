import { parseJsonText } from '../../json/parse-json-text.ts';
import { type FactoryView, factoryView } from '../../operations/views/applied-views.ts';
import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { createSnapshot, type StoredSnapshot } from '../../schema/automations-snapshot.ts';
import { pickRunFlow } from '../../schema/definitions/automation-definition.ts';
import { resolveIssuer } from '../../schema/oidc/issuers.ts';
import { credentialOwner, type Opener } from '../../store/ports/seal.ts';
import { requireScheme } from '../authentication/authenticator.ts';
import type { PreviousKey } from '../authentication/ingress-request.ts';
import type { ServedFilter } from './served-webhook.ts';

/** @limit Characters of a webhook's filters that are compiled for its first request, and divide those that are compiled ahead: about a millisecond. */
const filterPartChars = 16 * 1024;

/** An applied state as the ingress needs it: checked, opened and rendered where that does not delay deliveries. */
export interface LoadedState {
  readonly view: FactoryView;
  readonly snapshot: StoredSnapshot;
  /** The enabled webhooks that can be served. */
  readonly webhooks: PackedWebhooks;
  /** The UIDs of those that cannot, with the reasons. */
  readonly unserved: ReadonlyMap<string, string>;
  /** The UIDs of the disabled webhooks. */
  readonly disabled: readonly string[];
  /** The URLs of the issuers whose tokens the enabled webhooks take. */
  readonly issuers: readonly string[];
  /** The UIDs of the enabled webhooks whose definition has a `sender`. */
  readonly senders: readonly string[];
  /** The names of the automations. */
  readonly automations: readonly string[];
  /** The filters of webhooks with more than one part of them. A part is a JSON array of `ServedFilter`s. */
  readonly filterParts: ReadonlyMap<string, readonly string[]>;
}

/** Loads the state that was read for a factory. Fails if there was none, or if it is damaged or of another factory. */
export function loadState(state: AppliedState, open: Opener, factory: string): LoadedState {
  if (state.serial === 0) throw new Error('the applied state is missing');
  if (state.factory !== factory) throw new Error(`the applied state belongs to the factory ${state.factory}`);
  if (state.isDamaged) throw new Error(damagedText);
  return {
    view: factoryView(state),
    snapshot: createSnapshot(state),
    automations: state.automations.map(({ name }) => name),
    senders: state.webhooks.filter(({ enabled, sender }) => enabled && sender).map(({ uid }) => uid),
    ...packState(state, open),
  };
}

const damagedText =
  'the applied state was changed outside hookmill. Restore a backup, or run `hookmill apply` again';

function packState(
  { factory, webhooks, automations }: AppliedState,
  open: Opener,
): Pick<LoadedState, 'webhooks' | 'issuers' | 'disabled' | 'unserved' | 'filterParts'> {
  const filters = listFilters(automations);
  const packed: PackedWebhook[] = [];
  const unserved = new Map<string, string>();
  const filterParts = new Map<string, string[]>();
  for (const webhook of webhooks.filter(({ enabled }) => enabled)) {
    const { credential: _, secretName: __, enabled: ___, ...served } = webhook;
    let keys: Pick<PackedWebhook, 'key' | 'previous'>;
    try {
      keys = findKeys(webhook, factory, open);
    } catch (error) {
      unserved.set(webhook.uid, error instanceof Error ? error.message : String(error));
      continue;
    }
    const own = { ...served, ...keys };
    const [part = '[]', ...others] = divide(filters.get(webhook.uid) ?? []);
    if (others.length > 0) filterParts.set(webhook.uid, [part, ...others]);
    packed.push(others.length > 0 ? own : { ...own, filters: part });
  }
  const disabled = webhooks.filter(({ enabled }) => !enabled).map(({ uid }) => uid);
  const issuers = new Set(
    packed.flatMap(({ issuer }) => (issuer === undefined ? [] : [resolveIssuer(issuer)])),
  );
  return { webhooks: packWebhooks(packed), issuers: [...issuers], disabled, unserved, filterParts };
}

/** Finds what `createAuthenticator` needs of a credential, and of the previous one. Fails if it does not open, or if its scheme is unknown. */
function findKeys(
  webhook: AppliedWebhook,
  factory: string,
  open: Opener,
): Pick<PackedWebhook, 'key' | 'previous'> {
  const { authMode, credential, uid } = webhook;
  if (authMode === 'signature') requireScheme(webhook);
  const kind = authMode === 'signature' ? 'sealed' : 'digest';
  if (credential.kind !== kind) return {};
  const read = (value: { readonly sha256: string } | { readonly jwe: string }) =>
    'jwe' in value ? open(value.jwe, credentialOwner(factory, uid)) : value.sha256;
  const { previous } = credential;
  return {
    key: read(credential),
    ...(previous && {
      previous: {
        key: read(previous),
        ...{ fromMs: Date.parse(previous.since), untilMs: Date.parse(previous.until) },
      },
    }),
  };
}

/** The filters of the enabled automations by the UID of their webhook, each as the JSON of a `ServedFilter`. */
function listFilters(automations: readonly AppliedAutomation[]): ReadonlyMap<string, readonly string[]> {
  const byUid = new Map<string, string[]>();
  for (const automation of automations) {
    const { name, enabled, triggers } = automation;
    if (!enabled) continue;
    const flow = pickRunFlow(automation);
    for (const { filter } of triggers) {
      const [uid = ''] = filter.webhook_ids;
      const { payload, headers } = filter;
      const texts = byUid.get(uid) ?? [];
      texts.push(JSON.stringify({ name, filter: payload, headers, flow } satisfies ServedFilter));
      byUid.set(uid, texts);
    }
  }
  return byUid;
}

/** Renders JSON arrays of the texts, each as long as a part may be. */
function divide(texts: readonly string[]): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let chars = 0;
  for (const [index, text] of texts.entries()) {
    part.push(text);
    chars += text.length;
    if (chars < filterPartChars && index < texts.length - 1) continue;
    parts.push(`[${part.join(',')}]`);
    part = [];
    chars = 0;
  }
  return parts;
}

/** The parts of a webhook without which its requests cannot be answered. */
export interface PackedWebhook extends Omit<AppliedWebhook, 'credential' | 'secretName' | 'enabled'> {
  /** The key of its authenticator, see `createAuthenticator`. */
  readonly key?: string | undefined;
  /** The same of the previous credential, which may have ended. */
  readonly previous?: PreviousKey | undefined;
  /** A JSON array of the `ServedFilter`s of enabled automations, unless it is so long that it is compiled ahead. */
  readonly filters?: string | undefined;
}

/**
 * Webhooks as JSON, each on a line. They take 220 bytes each and are no objects, because a daemon may have 100,000,
 * most of which get no request for a long time.
 */
interface PackedWebhooks {
  /** The UIDs in the order of the lines. */
  readonly uids: readonly string[];
  readonly lines: Uint8Array;
}

function packWebhooks(webhooks: readonly PackedWebhook[]): PackedWebhooks {
  const lines = webhooks.map(({ uid: _, ...others }) => JSON.stringify(others)).join('\n');
  return { uids: webhooks.map(({ uid }) => uid), lines: new TextEncoder().encode(lines) };
}

export function unpackWebhook({ uids, lines }: PackedWebhooks, uid: string): PackedWebhook | undefined {
  const line = new TextDecoder().decode(lines).split('\n')[uids.indexOf(uid)];
  return line === undefined ? undefined : { uid, ...(parseJsonText(line) as Omit<PackedWebhook, 'uid'>) };
}
