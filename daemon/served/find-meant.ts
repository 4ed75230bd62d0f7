import { describeSimilarUid } from '../../schema/text/suggestion.ts';

const halfLength = 13;

/**
 * Finds a UID that a text was probably meant to be, in constant time however many there are: an error leaves the beginning
 * or the end as it was, and UIDs are random, so that half of one is enough to know it.
 */
export class SimilarUids {
  /** By the hashes of both halves. One that two UIDs share finds only the later one. */
  readonly #byHalf = new Map<number, string>();

  add(uid: string): void {
    for (const half of hashHalves(uid)) this.#byHalf.set(half, uid);
  }

  delete(uid: string): void {
    for (const half of hashHalves(uid)) this.#byHalf.delete(half);
  }

  /** Finds at most one UID. The caller checks how it differs from the text. */
  find(text: string): string | undefined {
    const [start, end] = hashHalves(text.toLowerCase());
    return this.#byHalf.get(start) ?? this.#byHalf.get(end);
  }
}

/** @limit Characters of a request's path that are searched for a UID: no usable URL is longer before its end. */
const pathCharsMax = 256;
/** @limit Characters that are compared with a UID: one has 27. */
const askedCharsMax = 40;

/** The webhook that a request was probably meant for. */
export interface MeantWebhook {
  readonly factory: string;
  readonly uid: string;
  /** How the path differs from the webhook's; empty if it does not. */
  readonly difference: string;
}

export interface KnownUids {
  /** Returns the factory of a webhook, whether or not that is served. */
  readonly findFactory: (uid: string) => string | undefined;
  /** Returns a UID that shares its beginning or its end with the text. */
  readonly findSimilar: (text: string) => string | undefined;
}

/**
 * Finds the webhook that a path was probably meant for. Returns `nobody` if the path has something in the place of a UID,
 * and undefined if it has not.
 */
export function findMeant(path: string, uids: KnownUids): MeantWebhook | 'nobody' | undefined {
  const asked = readAsked(path.slice(0, pathCharsMax));
  if (!asked) return undefined;
  const { text, before, after } = asked;
  const uid = uids.findSimilar(text.replace(/[^0-9a-z]+$/i, ''));
  const factory = uid && uids.findFactory(uid);
  const difference = uid && describeSimilarUid(text, uid);
  if (!factory || difference === undefined) return 'nobody';
  return { factory, uid, difference: difference || describeAround(before, after) || describeEscapes(asked) };
}

const prefix = '/webhooks/w/';

/** Reads the part of a path that should be a UID. */
function readAsked(path: string) {
  const start = path.startsWith(prefix) ? prefix.length : path.search(/wh_/i);
  if (start < 0) return undefined;
  const slash = path.indexOf('/', start);
  const end = slash < 0 ? path.length : slash;
  const text = decode(path.slice(start, end)).slice(0, askedCharsMax);
  if (text === '') return undefined;
  return {
    text,
    isEscaped: text !== path.slice(start, end),
    before: path.slice(0, start),
    after: path.slice(end),
  };
}

function describeAround(before: string, after: string): string {
  if (before !== prefix) return `the path before the UID is not ${prefix}`;
  return after === '' ? '' : 'a slash follows the UID';
}

function describeEscapes({ isEscaped }: { readonly isEscaped: boolean }): string {
  return isEscaped ? 'the UID is percent-encoded' : '';
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Hashes of 30 bits, which V8 keeps without an object (FNV-1a). */
function hashHalves(text: string): readonly [start: number, end: number] {
  return [hash(text, 0, 1), hash(text, Math.max(0, text.length - halfLength), 2)];
}

function hash(text: string, from: number, seed: number): number {
  let hashed = 0x811c9dc5 ^ seed;
  const to = Math.min(text.length, from + halfLength);
  for (let index = from; index < to; index++) {
    hashed = Math.imul(hashed ^ text.charCodeAt(index), 0x01000193);
  }
  return hashed & 0x3fffffff;
}
