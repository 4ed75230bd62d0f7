import type { ServerResponse } from 'node:http';
import { deliveryView } from '../../operations/views/delivery-views.ts';
import { ApiProblem } from '../../schema/api/problems.ts';
import type { Permission } from '../../schema/grant.ts';
import { hasRoom, type Quota } from '../../schema/quota.ts';
import type { LoggedDelivery } from '../../store/ports/delivery-log.ts';

/** @limit Most live views: each holds a connection. */
const liveViewersQuota: Quota = { all: 256, share: 8, reserve: 0 };
/** @limit Most live views of one API token or person: beyond it their own oldest one ends. A browser tab holds one. */
const liveViewersPerTokenMax = 64;
/** @limit Most bytes that a live view may leave unread before it is cut off: memory stays bounded. */
const liveViewerBytesMax = 256 * 1024;
/** @limit Time between two events of a live view, in ms: as often as a person can follow. */
const liveIntervalMs = 500;
/** @limit Most deliveries in one event of a live view, the newest of however many came: a screen shows no more. */
const liveDeliveriesMax = 20;
/** @limit Time between two signs of life of a silent live view, in ms: proxies close a silent connection after 30–60 s. */
const liveHeartbeatMs = 15_000;
/** @limit Time after which a browser reconnects a live view that broke off, in ms: the view misses little. */
const liveReconnectMs = 2_000;

/** The deliveries that a viewer sees: all of a factory, or of one of its webhooks. */
export interface LiveView {
  readonly factory: string;
  readonly uid?: string | undefined;
  readonly permission: Permission;
}

/** Views with the same key belong to the same token or session. */
export interface Viewer {
  readonly key: string;
  /** The digest of the token or person. */
  readonly token: string;
  readonly maySee: () => Promise<boolean>;
}

export interface LiveDeliveriesOptions {
  /** Called before a factory is watched. */
  readonly beforeView?: (factory: string) => Promise<void>;
  readonly intervalMs?: number;
  readonly heartbeatMs?: number;
  readonly viewerBytesMax?: number;
}

/** All viewers of the same view, and the deliveries to send next. An event is serialized once for all of them. */
interface Audience {
  readonly view: LiveView;
  readonly viewers: Map<ServerResponse, Viewer>;
  pending: LoggedDelivery[];
  skipped: number;
}

interface OpenView {
  readonly token: string;
  readonly factory: string;
  readonly leave: () => void;
}

/**
 * Sends committed deliveries to the viewers. A viewer gets at most one event per interval, with the newest deliveries,
 * so the cost of 200 viewers does not grow with the traffic of the ingress.
 */
export class LiveDeliveries {
  readonly #intervalMs: number;
  readonly #viewerBytesMax: number;
  readonly #heartbeat: NodeJS.Timeout;
  /** Call it before the headers of a view are sent. */
  readonly beforeView: (factory: string) => Promise<void>;
  readonly #audiences = new Map<string, Audience>();
  /** The views by their age, oldest first, each with what removes it. */
  readonly #views = new Map<ServerResponse, OpenView>();
  #timer: NodeJS.Timeout | undefined;

  constructor({
    beforeView = async () => undefined,
    intervalMs = liveIntervalMs,
    heartbeatMs = liveHeartbeatMs,
    viewerBytesMax = liveViewerBytesMax,
  }: LiveDeliveriesOptions = {}) {
    this.beforeView = beforeView;
    this.#intervalMs = intervalMs;
    this.#viewerBytesMax = viewerBytesMax;
    this.#heartbeat = setInterval(() => this.#sendHeartbeat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Takes rows that the delivery log has committed. Costs nothing while there are no viewers. */
  publish(getRows: () => readonly LoggedDelivery[]): void {
    if (this.#views.size === 0) return;
    for (const row of getRows()) {
      for (const audience of this.#audiences.values()) addRow(audience, row);
    }
    this.#timer ??= setTimeout(() => this.#flush(), this.#intervalMs);
  }

  /**
   * Sends deliveries that are committed from now on to `response`, whose headers are already set. Ends when the client
   * disconnects or reads too slowly, when its token or session ends, or when the token opens too many others.
   * Fails with `too-many-viewers`.
   */
  view(view: LiveView, response: ServerResponse, viewer: Viewer): void {
    const { factory, uid = '', permission } = view;
    this.#makeRoom(viewer, factory);
    const key = `${factory} ${uid} ${permission}`;
    const audience = this.#audiences.get(key) ?? { view, viewers: new Map(), pending: [], skipped: 0 };
    this.#audiences.set(key, audience);
    audience.viewers.set(response, viewer);
    const leave = () => {
      this.#views.delete(response);
      audience.viewers.delete(response);
      if (audience.viewers.size === 0 && this.#audiences.get(key) === audience) this.#audiences.delete(key);
    };
    this.#views.set(response, { token: viewer.token, factory, leave });
    response.once('close', leave);
    response.write(`retry: ${liveReconnectMs}\n\n`);
  }

  /** The factories whose deliveries somebody watches. */
  listFactories(): string[] {
    return [...new Set(Array.from(this.#audiences.values(), ({ view }) => view.factory))];
  }

  get viewerCount(): number {
    return this.#views.size;
  }

  /** Ends every view. */
  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    for (const audience of this.#audiences.values()) {
      for (const response of audience.viewers.keys()) response.end();
    }
  }

  #makeRoom({ token }: Viewer, factory: string): void {
    const own = [...this.#views].filter(([, view]) => view.token === token);
    const [oldest] = own;
    if (oldest && own.length >= liveViewersPerTokenMax) {
      const [response, { leave }] = oldest;
      leave();
      response.end();
    }
    const factories = Array.from(this.#views.values(), view => view.factory);
    if (!hasRoom(liveViewersQuota, factories, factory)) throw new ApiProblem('too-many-viewers');
  }

  #flush(): void {
    this.#timer = undefined;
    const events = [...this.#audiences.values()].filter(({ pending }) => pending.length > 0);
    void this.#sendAll(events.map(audience => ({ audience, bytes: Buffer.from(takeEvent(audience)) })));
  }

  #sendHeartbeat(): void {
    void this.#sendAll([...this.#audiences.values()].map(audience => ({ audience, bytes: heartbeat })));
  }

  /** Sends the events. Checks each token or session once, however many views it has. */
  async #sendAll(events: readonly { audience: Audience; bytes: Buffer }[]): Promise<void> {
    const known = new Map<string, Promise<boolean>>();
    for (const { audience, bytes } of events) {
      for (const [response, { key, maySee }] of audience.viewers) {
        const lookUp = known.get(key) ?? maySee().catch(() => false);
        known.set(key, lookUp);
        const mayStay = await lookUp;
        // The client may have disconnected during the look-up.
        if (response.destroyed || response.writableEnded) continue;
        if (mayStay && response.writableLength <= this.#viewerBytesMax) response.write(bytes);
        else response.destroy();
      }
    }
  }
}

const heartbeat = Buffer.from(': alive\n\n');

function addRow(audience: Audience, row: LoggedDelivery): void {
  const { factory, uid } = audience.view;
  if (row.factory !== factory || (uid !== undefined && row.uid !== uid)) return;
  if (audience.pending.push(row) <= liveDeliveriesMax) return;
  audience.pending.shift();
  audience.skipped++;
}

function takeEvent(audience: Audience): string {
  const { pending, skipped, view } = audience;
  audience.pending = [];
  audience.skipped = 0;
  const deliveries = pending.map(row => deliveryView(row, view.permission));
  return `event: deliveries\ndata: ${JSON.stringify({ deliveries, skipped })}\n\n`;
}
