import { createLocalJWKSet } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { hasRoom, type Quota } from '../../schema/quota.ts';
import { toCanonicalJson } from '../../schema/text/json-text.ts';
import { printable } from '../../schema/text/printable.ts';
import { requestGuarded } from '../../senders/guarded-request.ts';
import {
  type IssuerKey,
  pickIssuerKeys,
  type StoredIssuer,
  type StoredIssuerKeys,
} from '../../store/ports/daemon-records.ts';
import type { TrustedIssuer } from './oidc-settings.ts';
import type { FindKey, KnownKeys } from './verify-token.ts';

/** @limit Time for which the keys of an issuer are used before they are fetched again, in ms. */
const freshMs = 60 * 60_000;
/** @limit Time between two attempts while an issuer cannot be reached, in ms. */
const retryMs = 60_000;
/** @limit Shortest time between two fetches for tokens with an unknown key, in ms for each issuer: anybody can send one. */
const unknownKeyMs = 30_000;
/** @limit Issuers whose keys are fetched together: one that does not answer holds up only the factories that name it. */
const fetchesQuota: Quota = { all: 4, share: 1, reserve: 0 };
/** @limit Keys of one issuer that are used: the known ones have fewer than 20. */
const keysMax = 200;
/** @limit Time between two looks which keys must be fetched again, in ms. */
const lookEveryMs = 15_000;

/** The keys of the issuers that webhooks and settings name. Nothing that a request needs waits for the network. */
export interface IssuerKeys extends KnownKeys {
  /** Replaces the issuers that an owner needs, such as a factory. The keys of new ones are fetched at once. */
  follow(owner: string, issuers: readonly string[]): void;
  /** The issuers, with what keeps their keys from being fetched. */
  status(): readonly Pick<StoredIssuer, 'issuer' | 'failure'>[];
  stop(): Promise<void>;
}

interface IssuerKeysOptions {
  readonly stored: StoredIssuerKeys;
  readonly trusted: readonly TrustedIssuer[];
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

interface Followed {
  find: FindKey | undefined;
  known: StoredIssuer;
  /** Those that need the issuer. */
  owners: readonly string[];
  /** When the last attempt began. */
  attemptedMs: number;
  fetching: Promise<void> | undefined;
}

/** Starts with the keys that the store has. They are fetched at once, hourly, and when `seekKey` is called. */
export async function startIssuerKeys(options: IssuerKeysOptions): Promise<IssuerKeys> {
  const { monotonicMs } = options;
  const stopping = new AbortController();
  const followed = new Map<string, Followed>();
  const fetchKeys = createFetch(options, followed, stopping.signal);
  const follow = createFollow(followed, await readKept(options), fetchKeys);
  const sinceMs = ({ attemptedMs }: Followed) => monotonicMs() - attemptedMs;
  const allFetched = () => Promise.all([...followed.values()].map(({ fetching }) => fetching));
  const fetchDue = () => {
    for (const entry of followed.values())
      if (sinceMs(entry) >= (entry.known.failure ? retryMs : freshMs)) fetchKeys(entry);
  };
  const timer = setInterval(fetchDue, lookEveryMs).unref();
  return {
    follow,
    find: issuer => followed.get(issuer)?.find,
    seekKey: issuer => {
      const entry = followed.get(issuer);
      if (!entry || entry.fetching) return 'soon';
      if (sinceMs(entry) < unknownKeyMs) return entry.known.failure ? 'soon' : 'none';
      fetchKeys(entry);
      return 'soon';
    },
    status: () => [...followed.values()].map(({ known: { issuer, failure } }) => ({ issuer, failure })),
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await allFetched();
    },
  };
}

type FetchKeys = (entry: Followed) => void;

/** Makes a function that fetches the keys of an issuer, unless that is in progress. */
function createFetch(
  options: IssuerKeysOptions,
  followed: ReadonlyMap<string, Followed>,
  stopping: AbortSignal,
): FetchKeys {
  const { stored, log, monotonicMs } = options;
  const doShared = shareTogether(fetchesQuota);
  const fetchOnce = async (entry: Followed) => {
    entry.attemptedMs = monotonicMs();
    const { known } = entry;
    const next = await fetchState(known, { ...options, stopping });
    if (stopping.aborted || toCanonicalJson(next) === toCanonicalJson(known)) return;
    report(known, next, log);
    entry.known = next;
    if (next.failure === null) entry.find = createLocalJWKSet({ keys: next.keys });
    const { issuer } = known;
    // Without them, only a restart while the issuer is down would miss these keys.
    const isNeeded = (other: string) => followed.has(other);
    await stored
      .keep(next, isNeeded)
      .catch(err => log.warn({ err, issuer }, 'cannot keep the keys of an issuer'));
  };
  return entry => {
    if (stopping.aborted) return;
    entry.fetching ??= doShared(
      () => entry.owners,
      () => fetchOnce(entry),
    ).finally(() => {
      entry.fetching = undefined;
    });
  };
}

/** Keeps `followed` as the issuers that somebody needs. Of the others, the keys are remembered that were known last. */
function createFollow(
  followed: Map<string, Followed>,
  kept: Map<string, StoredIssuer>,
  fetchKeys: FetchKeys,
): IssuerKeys['follow'] {
  const owners = new Map<string, readonly string[]>();
  return (owner, issuers) => {
    if (issuers.length > 0) owners.set(owner, issuers);
    else if (!owners.delete(owner)) return;
    const wanted = new Set([...owners.values()].flat());
    for (const [issuer, { known }] of followed) {
      if (wanted.has(issuer)) continue;
      kept.set(issuer, known);
      followed.delete(issuer);
    }
    for (const [issuer, entry] of followed)
      entry.owners = [...owners].flatMap(([name, needed]) => (needed.includes(issuer) ? name : []));
    for (const issuer of wanted) {
      if (followed.has(issuer)) continue;
      const known = kept.get(issuer) ?? { issuer, keys: [], failure: null };
      const find = known.keys.length > 0 ? createLocalJWKSet({ keys: known.keys }) : undefined;
      const entry: Followed = { find, known, owners: [owner], attemptedMs: 0, fetching: undefined };
      followed.set(issuer, entry);
      fetchKeys(entry);
    }
  };
}

async function readKept({ stored, log }: IssuerKeysOptions): Promise<Map<string, StoredIssuer>> {
  const read = await stored.read().catch((err: unknown) => {
    log.warn({ err }, 'cannot read the keys of issuers that were kept; fetching them');
  });
  return new Map(read?.issuers.map(kept => [kept.issuer, kept]));
}

/** Fetches the keys of an issuer. If that fails, the known ones stay. */
async function fetchState(
  known: StoredIssuer,
  { trusted, stopping, nowMs }: Pick<IssuerKeysOptions, 'trusted' | 'nowMs'> & Pick<FetchRules, 'stopping'>,
): Promise<StoredIssuer> {
  const { issuer } = known;
  try {
    const trust = trusted.find(other => other.issuer === issuer);
    const rules = { isTrusted: trust !== undefined, stopping };
    const url = trust?.keysUrl ?? (await discoverKeysUrl(issuer, rules));
    const keys = await fetchKeySet(url, rules);
    return { issuer, keys, failure: null };
  } catch (error) {
    const reason = printable(error instanceof Error ? error.message : String(error));
    return { ...known, failure: { since: known.failure?.since ?? new Date(nowMs()).toISOString(), reason } };
  }
}

const metadataShape = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const keySetShape = z.object({ keys: z.array(z.unknown()) });

async function fetchKeySet(url: string, rules: FetchRules): Promise<IssuerKey[]> {
  const keySet = keySetShape.safeParse(await fetchJson(url, rules));
  if (!keySet.success) throw new Error(`${url}: its answer is not a set of keys`);
  const keys = pickIssuerKeys(keySet.data.keys).slice(0, keysMax);
  if (keys.length === 0) throw new Error(`${url}: its answer has no public key for signatures`);
  return keys;
}

/** Reads the URL of the keys from the issuer's metadata (OpenID Connect Discovery 1.0, section 4). */
async function discoverKeysUrl(issuer: string, rules: FetchRules): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const metadata = metadataShape.safeParse(await fetchJson(url, rules));
  if (!metadata.success) throw new Error(`${url}: its answer names no issuer or no jwks_uri`);
  if (metadata.data.issuer !== issuer) throw new Error(`${url}: it belongs to another issuer`);
  return metadata.data.jwks_uri;
}

function report(before: StoredIssuer, { issuer, failure }: StoredIssuer, log: Logger): void {
  const hasKeys = before.keys.length > 0;
  const instead = hasKeys ? 'using the last ones' : 'tokens of it are answered 503';
  if (failure && !before.failure)
    log.warn({ issuer, reason: failure.reason }, `cannot fetch the keys of an issuer; ${instead}`);
  else if (!failure) log.info({ issuer }, 'fetched the keys of an issuer');
}

/** Makes a function that does works in the order of the calls, each as soon as one of its owners has room. */
function shareTogether(
  quota: Quota,
): (getOwners: () => readonly string[], work: () => Promise<void>) => Promise<void> {
  const waiting = new Set<() => void>();
  const working: string[] = [];
  return async (getOwners, work) => {
    const takePlace = () => {
      const owner = getOwners().find(name => hasRoom(quota, working, name));
      if (owner !== undefined) working.push(owner);
      return owner;
    };
    const waitForPlace = () =>
      new Promise<string>(resolve => {
        const tryAgain = () => {
          const owner = takePlace();
          if (owner === undefined) return;
          waiting.delete(tryAgain);
          resolve(owner);
        };
        waiting.add(tryAgain);
      });
    const owner = takePlace() ?? (await waitForPlace());
    try {
      await work();
    } finally {
      working.splice(working.indexOf(owner), 1);
      for (const tryAgain of waiting) tryAgain();
    }
  };
}

/** @limit Time in which an issuer must answer each request, in ms: no delivery waits for it. */
const answerMs = 5_000;
/** @limit Longest answer of an issuer, in bytes: key sets have up to 30 KB. */
const answerBytesMax = 256 * 1024;

interface FetchRules {
  /** Whether the operator lets the issuer have a private address, or no https. */
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
}

const howToTrust = 'the operator can list the issuer in oidc.issuers';

/**
 * Fetches a JSON document of an issuer that a definition names. Fails unless the answer is 200: redirects are not followed.
 * Unless the operator trusts the issuer, the URL must have https and lead to a public address.
 */
async function fetchJson(url: string, rules: FetchRules): Promise<unknown> {
  const headers = { Accept: 'application/json' };
  const { status, body } = await requestGuarded({
    ...{ url, headers, answerMs, answerBytesMax, howToTrust },
    ...rules,
  });
  if (status !== 200) throw new Error(`${url}: it answered ${status}`);
  try {
    return parseJsonText(body);
  } catch (cause) {
    // The error of the parser would quote the answer.
    throw new Error(`${url}: its answer is not JSON`, { cause });
  }
}
