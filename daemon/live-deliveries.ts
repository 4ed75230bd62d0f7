import type { ServerResponse } from 'node:http';
import { deliveryView } from '../reconcile/delivery-views.ts';
import { ApiProblem } from '../schema/api/problems.ts';
import {
  liveDeliveriesMax,
  liveHeartbeatMs,
  liveIntervalMs,
  liveViewerBytesMax,
  liveViewersMax,
} from '../schema/limits.ts';
import type { Permission } from '../schema/permission.ts';
import type { LoggedDelivery } from '../store/delivery-log.ts';

/** What a viewer sees: the deliveries of a factory, or of one of its webhooks. */
export interface LiveView {
  readonly factory: string;
  readonly uid?: string | undefined;
  readonly permission: Permission;
}

export interface LiveDeliveries {
  /** From the delivery log, after a commit. Costs nothing while nobody looks. */
  publish(rows: () => readonly LoggedDelivery[]): void;
  /**
   * Sends what is committed from now on to `response`, whose headers are set, until its client goes, reads too
   * slowly, or `isAllowed` says no. Fails with `too-many-viewers`.
   */
  view(view: LiveView, response: ServerResponse, isAllowed: () => Promise<boolean>): void;
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
  readonly permission: Permission;
  readonly viewers: Map<ServerResponse, () => Promise<boolean>>;
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

  const add = (audience: Audience | undefined, row: LoggedDelivery) => {
    if (!audience) return;
    if (audience.pending.push(row) > liveDeliveriesMax) {
      audience.pending.shift();
      audience.skipped++;
    }
  };

  const flush = () => {
    timer = undefined;
    for (const audience of audiences.values()) {
      if (audience.pending.length > 0) sendAll(audience, eventOf(audience));
      audience.pending = [];
      audience.skipped = 0;
    }
  };

  const sendAll = (audience: Audience, text: string) => {
    const bytes = Buffer.from(text);
    for (const [response, isAllowed] of audience.viewers) void send(response, isAllowed, bytes);
  };

  const send = async (response: ServerResponse, isAllowed: () => Promise<boolean>, bytes: Buffer) => {
    const allowed = await isAllowed().catch(() => false);
    if (!allowed || response.writableLength > viewerBytesMax) response.destroy();
    else response.write(bytes);
  };

  const heartbeat = setInterval(() => {
    for (const audience of audiences.values()) sendAll(audience, ': alive\n\n');
  }, heartbeatMs);
  heartbeat.unref();

  return {
    publish: rows => {
      if (viewers === 0) return;
      for (const row of rows()) {
        for (const permission of ['read', 'manage'] as const) {
          add(audiences.get(keyOf({ factory: row.factory, permission })), row);
          add(audiences.get(keyOf({ factory: row.factory, uid: row.uid, permission })), row);
        }
      }
      timer ??= setTimeout(flush, intervalMs);
    },
    view: (view, response, isAllowed) => {
      if (viewers >= liveViewersMax) throw new ApiProblem('too-many-viewers');
      viewers++;
      const key = keyOf(view);
      const audience = audiences.get(key) ?? newAudience(view);
      audiences.set(key, audience);
      audience.viewers.set(response, isAllowed);
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

function keyOf({ factory, uid = '', permission }: LiveView): string {
  return `${factory} ${uid} ${permission}`;
}

function newAudience({ permission }: LiveView): Audience {
  return { permission, viewers: new Map(), pending: [], skipped: 0 };
}

function eventOf({ pending, skipped, permission }: Audience): string {
  const deliveries = pending.map(row => deliveryView(row, permission));
  return `event: deliveries\ndata: ${JSON.stringify({ deliveries, skipped })}\n\n`;
}
