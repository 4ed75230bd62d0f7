import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJsonText } from '../../json/parse-json-text.ts';

/** @limit Pieces of an unverified body that may be of any size: a small body may arrive byte by byte. */
const freePieces = 1_024;
/** @limit Smallest average size of the pieces of an unverified body, in bytes, once it has more than the free ones: each costs as much time as some KB in one piece. */
const pieceBytesMin = 64;
/** @limit Largest Content-Length that is told apart, in bytes: what every store holds as the size of a delivery. */
const lengthMax = 2 ** 31 - 1;

export type BodyRead = { readonly ok: true; readonly body: Buffer<ArrayBuffer> } | UnreadBody;

export interface UnreadBody {
  readonly ok: false;
  readonly problem: 'too-large' | 'body-incomplete' | 'body-in-pieces' | 'too-many-uploads';
  readonly bytesSeen: number;
}

/**
 * Reads a whole body of at most `limit` bytes into one buffer. For an unverified sender, it grows as bytes arrive: neither
 * a header nor tiny chunks make it larger than twice what was sent. `room` bounds the memory of all of them, and ends the
 * reading when others need it.
 */
export function readBody(request: IncomingMessage, limit: number, room?: BodyRoom): Promise<BodyRead> {
  const length = parseContentLength(request);
  return new Promise(resolve => {
    let buffer = Buffer.alloc(0);
    let bytes = 0;
    let pieces = 0;
    const settle = (read: BodyRead) => {
      room?.leave();
      // What still arrives is discarded.
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      resolve(read);
    };
    const refuse = (problem: UnreadBody['problem']) => settle({ ok: false, problem, bytesSeen: bytes });
    const onEnd = () => settle({ ok: true, body: buffer.subarray(0, bytes) });
    const onBroken = () => refuse('body-incomplete');
    const onData = (piece: Buffer) => {
      const start = bytes;
      bytes += piece.length;
      pieces++;
      if (bytes > limit) return refuse('too-large');
      if (room && pieces > freePieces && bytes < pieces * pieceBytesMin) return refuse('body-in-pieces');
      if (bytes > buffer.length) {
        const grown = Math.min(length ?? limit, Math.max(bytes, 2 * buffer.length));
        const capacity = room ? grown : (length ?? grown);
        if (room && !room.grow(capacity - buffer.length)) return refuse('too-many-uploads');
        const larger = Buffer.allocUnsafe(capacity);
        buffer.copy(larger, 0, 0, start);
        buffer = larger;
      }
      piece.copy(buffer, start);
    };
    if (length !== undefined && length > limit) {
      bytes = length;
      return refuse('too-large');
    }
    room?.onGiveWay(() => refuse('too-many-uploads'));
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

/** Sends `100 Continue` to a client that waits for it before it sends a body, unless that is larger than `limit`. */
export function permitBody(request: IncomingMessage, response: ServerResponse, limit: number): void {
  if (request.headers.expect === undefined || request.httpVersion !== '1.1') return;
  if ((parseContentLength(request) ?? 0) <= limit) response.writeContinue();
}

/** Parses Content-Length. A length too large to be stored is capped: it exceeds every limit anyway. */
export function parseContentLength({ headers }: IncomingMessage): number | undefined {
  const value = headers['content-length'];
  return value === undefined ? undefined : Math.min(Number(value), lengthMax);
}

/** Parses a body as JSON in UTF-8 (RFC 8259); undefined if it is something else. Never throws. */
export function parseJsonBody(
  body: Buffer,
): { readonly value: unknown; readonly toJson: () => string } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    const text = body.toString('utf8');
    return { value: parseJsonText(text), toJson: () => text };
  } catch {
    return undefined;
  }
}

/** @limit Memory that uploads of unverified senders may take together, in bytes: a flood of them then costs little. It is larger if one body may be over 4 MiB. */
const unverifiedBytesMax = 32 * 1024 * 1024;
/** @limit Bytes that are counted for each such upload besides its body: about as much as Node keeps for a request. */
const uploadBytes = 8 * 1024;
/** @limit One client address may have this part of the memory for unverified uploads, as a divisor: the others keep the rest. */
const addressPart = 4;
/** Bodies of the largest size for which there is room at least. */
const largestBodies = 8;

/** The memory of one upload. */
export interface BodyRoom {
  /** Reserves more bytes. Returns false if its address has as much as it may. */
  grow(bytes: number): boolean;
  /** Registers what ends the upload when others need its memory. It must call `leave`. */
  onGiveWay(end: () => void): void;
  /** Returns the memory. May be called again. */
  leave(): void;
}

interface Client {
  bytes: number;
  /** The oldest first. */
  readonly uploads: Set<Upload>;
}

interface Upload {
  bytes: number;
  giveWay: () => void;
}

/**
 * Bounds the memory of bodies that are read before their senders are verified, for each client address and in all.
 * When all of it is taken, the oldest upload of the address that has most gives way, so that others always find room.
 */
export class UnverifiedBodies {
  readonly #bytesMax: number;
  readonly #clients = new Map<string, Client>();
  #bytes = 0;

  /** `bodyBytesMax` is the size of the largest body. */
  constructor(bodyBytesMax: number) {
    this.#bytesMax = Math.max(unverifiedBytesMax, largestBodies * bodyBytesMax);
  }

  /** Makes room for an upload; undefined if its address has as much as it may. */
  enter(address: string): BodyRoom | undefined {
    const client = this.#clients.get(address) ?? { bytes: 0, uploads: new Set() };
    const upload: Upload = { bytes: 0, giveWay: () => undefined };
    if (!this.#take(client, upload, uploadBytes)) return undefined;
    client.uploads.add(upload);
    this.#clients.set(address, client);
    return {
      grow: bytes => this.#take(client, upload, bytes),
      onGiveWay: end => {
        upload.giveWay = end;
      },
      leave: () => {
        if (!client.uploads.delete(upload)) return;
        this.#bytes -= upload.bytes;
        client.bytes -= upload.bytes;
        if (client.uploads.size === 0) this.#clients.delete(address);
      },
    };
  }

  #take(client: Client, upload: Upload, bytes: number): boolean {
    if (client.bytes + bytes > this.#bytesMax / addressPart) return false;
    while (this.#bytes + bytes > this.#bytesMax) {
      const largest = this.#findLargest();
      const [oldest] = largest?.uploads ?? [];
      if (!oldest || largest === client) return false;
      oldest.giveWay();
    }
    this.#bytes += bytes;
    client.bytes += bytes;
    upload.bytes += bytes;
    return true;
  }

  /** Looks at each address that is uploading, but only while all memory is taken. */
  #findLargest(): Client | undefined {
    let largest: Client | undefined;
    for (const client of this.#clients.values()) if (client.bytes > (largest?.bytes ?? 0)) largest = client;
    return largest;
  }
}
