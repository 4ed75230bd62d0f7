import type { ServerResponse } from 'node:http';
import { deliveryView } from '../../operations/views/delivery-views.ts';
import { ApiProblem } from '../../schema/api/problems.ts';
import type { Permission } from '../../schema/permission.ts';
import type { LoggedDelivery } from '../../store/delivery-log.ts';

/** @limit Most live views of all factories together: each holds a connection. */
const liveViewersMax = 256;
/** @limit Most bytes that a live view may leave unread before it is cut off: memory stays bounded. */
const liveViewerBytesMax = 256 * 1024;
/** @limit Time between two events of a live view, in ms: as often as a person can follow. */
const liveIntervalMs = 500;
/** @limit Most deliveries in one event of a live view, the newest of however many came: a screen shows no more. */
const liveDeliveriesMax = 20;
/** @limit Time between two signs of life of a silent live view, in ms: proxies close a silent connection after 30–60 s. */
const liveHeartbeatMs = 15_000;

/** What a viewer sees: the deliveries of a factory, or of one of its webhooks. */
export interface LiveView {
  readonly factory: string;
  readonly uid?: string | undefined;
  readonly permission: Permission;
}

/** Who looks, and whether they still may. Views with the same key are of the same token or session. */
export interface Viewer {
  readonly key: string;
  readonly maySee: () => Promise<boolean>;
}

export interface LiveDeliveries {
  /** From the delivery log, after a commit. Costs nothing while nobody looks. */
  publish(rows: () => readonly LoggedDelivery[]): void;
  /**
   * Sends what is committed from now on to `response`, whose headers are set, until its client goes, reads too
   * slowly, or its token is revoked or its session over. Fails with `too-many-viewers`.
   */
  view(view: LiveView, response: ServerResponse, viewer: Viewer): void;
  viewers(): number;
  /** Ends every view. */
  close(): void;
}

export interface LiveDeliveriesOptions {
  readonly intervalMs?: number;
  readonly heartbeatMs?: number;
  readonly viewerBytesMax?: number;
}

/** Those who look at the same, and what they are yet to be sent: it is written out once for all of them. */
interface Audience {
  readonly view: LiveView;
  readonly viewers: Map<ServerResponse, Viewer>;
  pending: LoggedDelivery[];
  skipped: number;
}

/**
 * However many deliveries are committed, a viewer gets one event an interval with the newest of them: what 200
 * viewers cost does not grow with what the ingress receives.
 */
export function openLiveDeliveries({
  intervalMs = liveIntervalMs,
  heartbeatMs = liveHeartbeatMs,
  viewerBytesMax = liveViewerBytesMax,
}: LiveDeliveriesOptions = {}): LiveDeliveries {
  const audiences = new Map<string, Audience>();
  let viewers = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = async () => {
    timer = undefined;
    const events = [...audiences.values()].filter(({ pending }) => pending.length > 0);
    await sendAll(events.map(audience => ({ audience, bytes: Buffer.from(takeEvent(audience)) })));
  };

  /** Each token or session is looked up once, however many views it has. */
  const sendAll = async (events: readonly { audience: Audience; bytes: Buffer }[]) => {
    const known = new Map<string, Promise<boolean>>();
    for (const { audience, bytes } of events) {
      for (const [response, { key, maySee }] of audience.viewers) {
        const lookUp = known.get(key) ?? maySee().catch(() => false);
        known.set(key, lookUp);
        const mayStay = await lookUp;
        // Its client may have gone meanwhile.
        if (response.destroyed || response.writableEnded) continue;
        if (mayStay && response.writableLength <= viewerBytesMax) response.write(bytes);
        else response.destroy();
      }
    }
  };

  const heartbeat = setInterval(() => {
    void sendAll([...audiences.values()].map(audience => ({ audience, bytes: alive })));
  }, heartbeatMs);
  heartbeat.unref();

  return {
    publish: rows => {
      if (viewers === 0) return;
      for (const row of rows()) {
        for (const audience of audiences.values()) add(audience, row);
      }
      timer ??= setTimeout(flush, intervalMs);
    },
    view: (view, response, viewer) => {
      if (viewers >= liveViewersMax) throw new ApiProblem('too-many-viewers');
      viewers++;
      const { factory, uid = '', permission } = view;
      const key = `${factory} ${uid} ${permission}`;
      const audience = audiences.get(key) ?? { view, viewers: new Map(), pending: [], skipped: 0 };
      audiences.set(key, audience);
      audience.viewers.set(response, viewer);
      response.once('close', () => {
        viewers--;
        audience.viewers.delete(response);
        if (audience.viewers.size === 0) audiences.delete(key);
      });
      // Browsers come back after this many ms.
      response.write('retry: 2000\n\n');
    },
    viewers: () => viewers,
    close: () => {
      clearInterval(heartbeat);
      clearTimeout(timer);
      for (const audience of audiences.values()) {
        for (const response of audience.viewers.keys()) response.end();
      }
    },
  };
}

const alive = Buffer.from(': alive\n\n');

function add(audience: Audience, row: LoggedDelivery): void {
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
