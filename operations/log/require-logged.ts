import { readSortableIdTime } from '../../schema/ids.ts';
import { Refusal } from '../../schema/refusal.ts';
import type {
  DeliveryLogReader,
  LoggedDelivery,
  Run,
  StoredContent,
} from '../../store/ports/delivery-log.ts';

/** The part of a factory whose log is read. */
interface LoggingFactory {
  readonly name: string;
  readonly store: { readonly deliveries: DeliveryLogReader };
}

/** Finds a delivery of this factory; deliveries of other factories are unknown here. Fails with `delivery-unknown`. */
export async function requireDelivery({ name, store }: LoggingFactory, id: string): Promise<LoggedDelivery> {
  const delivery = await store.deliveries.findDelivery(id);
  if (delivery?.factory === name) return delivery;
  const atMs = readSortableIdTime(id);
  const came =
    atMs === undefined
      ? ''
      : `, which came at ${new Date(atMs).toISOString()}: retention has removed it, or it is of another factory or store`;
  throw new Refusal('delivery-unknown', {
    detail: `the log of the factory ${name} has no delivery ${id}${came}`,
  });
}

/** Reads the payload of a delivery as JSON, or its body's exact bytes. Fails with `payload-not-stored`. */
export async function requirePayload(
  { store }: LoggingFactory,
  { id, outcome }: LoggedDelivery,
  part: keyof StoredContent = 'payload',
): Promise<Buffer> {
  const content = await store.deliveries.readContent(id);
  if (content) return Buffer.from(content[part]);
  const reason =
    outcome === 'Accepted' || outcome === 'Manual'
      ? 'the store was restored from a backup without payloads'
      : `its outcome is ${outcome}`;
  throw new Refusal('payload-not-stored', {
    detail: `the payload of ${id} is not stored, because ${reason}`,
  });
}

/** Finds a run of this factory; runs of other factories are unknown here. Fails with `run-unknown`. */
export async function requireRun({ name, store }: LoggingFactory, id: string): Promise<Run> {
  const run = await store.deliveries.findRun(id);
  if (run?.factory === name) return run;
  throw new Refusal('run-unknown', { detail: `the log of the factory ${name} has no run ${id}` });
}
