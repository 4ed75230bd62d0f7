import { useState } from 'preact/hooks';
import { formatJson } from '../../../schema/text/json-text.ts';
import { callApi } from '../../api-client.ts';
import type { ShownDelivery } from '../../api-types.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/loaded-objects.ts';
import { useLoad } from '../../state/loading.ts';
import { formatAge } from '../../text/format-time.ts';
import { DiffBlock } from '../definition-file.tsx';
import { Field } from '../fields.tsx';
import { Waiting } from '../lists.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
}

/** @limit Deliveries of its webhook with which a delivery can be compared, the ones before it: more would not be read in a menu. */
const comparedDeliveriesMax = 50;

/** @limit Lines of a comparison of two payloads that are shown: each is an element of the page. */
const comparedLinesMax = 1_000;

/** Compares the payload with the payload of an earlier delivery of the webhook. */
export function Comparison({ delivery }: Properties) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>Compare with an earlier delivery</summary>
      {open && <EarlierDeliveries delivery={delivery} />}
    </details>
  );
}

function EarlierDeliveries({ delivery }: Properties) {
  const { factory } = useFactory();
  const { id, uid: webhook } = delivery;
  const [chosen, setChosen] = useState<string>();
  const { value, error, reload } = useLoad(
    signal => {
      const query = { webhook, outcome: 'Accepted' as const, cursor: id, limit: comparedDeliveriesMax };
      return callApi('get', '/factories/{factory}/deliveries', { factory, query, signal });
    },
    [factory, id],
  );
  if (!value) return <Waiting error={error} reload={reload} what="earlier deliveries" />;
  const other = chosen ?? value.deliveries[0]?.id;
  if (other === undefined) return <p class="t3">The webhook has no earlier accepted delivery.</p>;
  return (
    <div class="stack">
      <Field label="Earlier delivery">
        {ids => (
          <select {...ids} value={other} onChange={event => setChosen(event.currentTarget.value)}>
            {value.deliveries.map(({ id, at, eventType }) => (
              <option key={id} value={id}>
                {[formatAge(Date.parse(at), Date.now()), eventType, id].filter(Boolean).join(' · ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Difference key={other} delivery={delivery} other={other} />
    </div>
  );
}

function Difference({ delivery: { payload }, other }: Properties & { readonly other: string }) {
  const earlier = useDelivery(other);
  const compare = useLoad(
    async () => (await import('../../../schema/changes/show-change.ts')).compareLines,
    [],
  );
  if (!earlier.value || !compare.value) {
    const { error, reload } = earlier.value ? compare : earlier;
    return <Waiting error={error} reload={reload} what="the difference" />;
  }
  const toLines = (text: string | null) => formatJson(text ?? '').split('\n');
  const lines = compare.value(toLines(earlier.value.payload), toLines(payload));
  if (lines.every(({ mark }) => mark === ' ')) return <p>The payloads are equal.</p>;
  const omitted = lines.length - comparedLinesMax;
  return (
    <>
      <DiffBlock lines={lines.slice(0, comparedLinesMax)} />
      {omitted > 0 && <p class="t3">{omitted} more lines are not shown.</p>}
    </>
  );
}
