import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Seal, SealedFor } from '../ports/seal.ts';
import { StoreError } from '../ports/store-error.ts';
import { keyBytes } from '../sealing.ts';

/*
 * The format: the line "hookmill backup 6" (1 had no pauses and no cancels, 2 no second commands of runs, 3 no deliveries that a previous secret verified, 4 no attempts of runs, and 5 no interruptions of runs), a line with the key of the file as JWE, sealed with the store's key, and chunks.
 * A chunk is the length of the rest (4 bytes, big-endian), a ciphertext of AES-256-GCM, and its tag (16 bytes). The nonce
 * of 12 bytes ends with the number of the chunk (10 bytes) and whether it is the last one (1 byte), as in STREAM
 * (https://eprint.iacr.org/2015/189.pdf): so no chunk can be changed, moved, left out or added.
 */

/** @limit Bytes at the beginning of a backup in which its two lines must end: the sealed key of the file takes 250. */
const headBytesMax = 1_024;
const formatVersion = 6;
const lengthBytes = 4;
const tagBytes = 16;
const owner: SealedFor = { use: 'backup', name: 'the backup' };

/** The place of a chunk in its file. */
export interface ChunkPlace {
  readonly number: number;
  /** The offset of its ciphertext. */
  readonly offset: number;
  readonly length: number;
  readonly isLast: boolean;
}

/** Appends chunks to an empty file, after its head. */
export async function createChunks(
  handle: FileHandle,
  seal: Seal,
): Promise<(content: Uint8Array, isLast: boolean) => Promise<void>> {
  const secret = randomBytes(keyBytes);
  const head = `hookmill backup ${formatVersion}\n${await seal.seal(secret.toString('base64'), owner)}\n`;
  const key = createSecretKey(secret);
  await handle.appendFile(head);
  let number = 0;
  return async (content, isLast) => {
    const cipher = createCipheriv('aes-256-gcm', key, makeNonce(number++, isLast));
    const parts = [cipher.update(content), cipher.final(), cipher.getAuthTag()];
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
    await handle.appendFile(Buffer.concat([length, ...parts]));
  };
}

export interface Chunks {
  /** The places of all chunks, in their order. Fails with `corrupt` where the file is cut off. */
  list(): AsyncIterable<ChunkPlace>;
  /** Reads a chunk. Fails with `corrupt` if it is not the one that was written there. */
  read(place: ChunkPlace): Promise<Buffer>;
}

/** Opens the chunks of a file. Fails with `key`, `newer-format`, or `corrupt` if it is no backup. */
export async function openChunks(handle: FileHandle, path: string, seal: Seal): Promise<Chunks> {
  const head = await readAt(handle, 0, headBytesMax);
  const [line = '', jwe = ''] = head.toString('latin1').split('\n');
  const [, version] = /^hookmill backup (\d+)$/.exec(line) ?? [];
  if (version === undefined) throw new StoreError('corrupt', `${path} is not a backup of hookmill`);
  if (Number(version) > formatVersion) {
    throw new StoreError('newer-format', `${path} has format ${version}; use the hookmill that wrote it`);
  }
  const key = await openKey(jwe, path, seal);
  const { size } = await handle.stat();
  return {
    list: () => listPlaces(handle, path, line.length + jwe.length + 2, size),
    read: async place => decrypt(await readAt(handle, place.offset, place.length), key, place, path),
  };
}

async function openKey(jwe: string, path: string, seal: Seal): Promise<KeyObject> {
  try {
    return createSecretKey(Buffer.from(await seal.open(jwe, owner), 'base64'));
  } catch (cause) {
    const advice = 'use the key that the store had at that time (HOOKMILL_KEY, or the key file of the home)';
    throw new StoreError('key', `${path} does not open with this key; ${advice}`, { cause });
  }
}

async function* listPlaces(
  handle: FileHandle,
  path: string,
  start: number,
  size: number,
): AsyncGenerator<ChunkPlace> {
  let end = start;
  for (let number = 0; number === 0 || end < size; number++) {
    const offset = end + lengthBytes;
    const bytes = await readAt(handle, end, lengthBytes);
    const length = bytes.length === lengthBytes ? bytes.readUInt32BE() : 0;
    end = offset + length;
    if (length < tagBytes || end > size) throw damaged(path, number);
    yield { number, offset, length, isLast: end === size };
  }
}

function decrypt(sealed: Buffer, key: KeyObject, { number, isLast }: ChunkPlace, path: string): Buffer {
  const tagAt = sealed.length - tagBytes;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, makeNonce(number, isLast), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(sealed.subarray(tagAt));
    return Buffer.concat([decipher.update(sealed.subarray(0, tagAt)), decipher.final()]);
  } catch (cause) {
    throw damaged(path, number, cause);
  }
}

function damaged(path: string, number: number, cause?: unknown): StoreError {
  const message = `${path} is damaged or cut off in its part ${number + 1}; use another backup`;
  return new StoreError('corrupt', message, { cause });
}

/** A nonce is used once, because each file has a key of its own. */
function makeNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = Number(isLast);
  return nonce;
}

/** Reads up to `length` bytes; fewer only at the end of the file. */
async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(bytes, read, length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
