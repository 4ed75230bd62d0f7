import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { type FieldPath, parseFieldPath } from '../../schema/field-path.ts';
import { createSortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import { describeScheme, findScheme } from '../../signatures/schemes.ts';
import { formatTimestamp } from '../../signatures/timestamp.ts';
import type { Factory } from '../factory.ts';

/** The type by which every test event can be told from events of the sender. */
const testType = 'hookmill.test';

/** The event of a test, without its credential. */
export interface TestEvent {
  /** Starts with `test-`. */
  readonly id: string;
  /** JSON. */
  readonly payload: string;
  /** With names in any case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes an event that the webhook's sender could send, but for its type: in the payload, and in the headers that name it. Its ID is
 * wherever the webhook looks for one. What is `given` takes the place of a part.
 */
export function makeTestEvent(
  { signatureScheme, deliveryIdField }: Pick<AppliedWebhook, 'signatureScheme' | 'deliveryIdField'>,
  { now, randomBytes }: Pick<Factory, 'now' | 'randomBytes'>,
  given: { readonly payload?: string | undefined; readonly headers?: TestEvent['headers'] | undefined },
): TestEvent {
  const nowMs = now().getTime();
  const id = createSortableId('test', nowMs, randomBytes(sortableIdRandomBytes)).replace('_', '-');
  const scheme = findScheme(signatureScheme);
  const typed = (scheme?.eventHeaders ?? []).map(name => [name.toLowerCase(), testType] as const);
  const headers = { ...Object.fromEntries(typed), ...given.headers };
  if (given.payload !== undefined) return { id, payload: given.payload, headers };
  const message = 'hookmill sent this to test the webhook. Nothing happened at the sender.';
  const payload = { type: testType, id, at: new Date(nowMs).toISOString(), message };
  const description = signatureScheme && describeScheme(signatureScheme);
  const timestamp = description && 'timestamp' in description ? description.timestamp : undefined;
  if (timestamp?.body !== undefined) {
    const text = formatTimestamp(nowMs, timestamp.unit);
    setField(payload, timestamp.body.split('.'), /^\d+$/.test(text) ? Number(text) : text);
  }
  for (const field of [deliveryIdField ?? scheme?.bodyIdentity?.field ?? []].flat())
    setField(payload, parseFieldPath(field) ?? [], id);
  return { id, payload: JSON.stringify(payload), headers };
}

/** Sets a value at a path, below objects and lists that it makes. */
function setField(root: object, path: FieldPath, value: unknown): void {
  const [step, ...below] = path;
  if (step === undefined) return;
  if (below.length === 0) {
    define(root, step, value);
    return;
  }
  const known: unknown = Object.hasOwn(root, step) ? Reflect.get(root, step) : undefined;
  const next = typeof known === 'object' && known !== null ? known : typeof below[0] === 'number' ? [] : {};
  define(root, step, next);
  setField(next, below, value);
}

/** Defines an own field, whatever its name is. */
function define(root: object, step: string | number, value: unknown): void {
  Object.defineProperty(root, step, { value, enumerable: true, configurable: true, writable: true });
}
