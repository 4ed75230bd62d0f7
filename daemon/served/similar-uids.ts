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
