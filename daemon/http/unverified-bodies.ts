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
  /** Asks for more bytes; false if there are none for this address. */
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
