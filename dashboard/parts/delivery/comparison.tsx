import { useMemo, useState } from 'preact/hooks';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { excerpt } from '../../../schema/filters/excerpt.ts';
import type { ShownDelivery } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useDelivery } from '../../state/loaded-objects.ts';
import { useLoad } from '../../state/loading.ts';
import { timeZone } from '../../state/time.ts';
import { formatClockTime } from '../../text/format-time.ts';
import { compareTrees } from '../../text/payload-tree.ts';
import { ChoiceChip } from '../chips.tsx';
import { Button } from '../controls.tsx';
import { Waiting } from '../lists.tsx';
import { Sec } from '../tables.tsx';
import { Code, Link, Text } from '../text.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
  readonly onClose: () => void;
}

/** @limit Deliveries of its webhook with which a delivery can be compared, before it and after it each: more would not be read in a menu. */
const comparedDeliveriesMax = 50;

/** @limit Differences of two payloads that are shown: each is an element of the page. */
const shownDifferencesMax = 500;

/** Compares the payload with the payload of another delivery of the same event, by default the one before it. */
export function Comparison({ delivery, onClose }: Properties) {
  const [chosen, setChosen] = useState<string>();
  const { value, error, reload } = useOthers(delivery);
  const other = chosen ?? value?.[0]?.id;
  return (
    <section aria-label="Comparison">
      <Sec title="Compared with">
        {value && other !== undefined && (
          <ChoiceChip
            label="Other delivery"
            value={other}
            onChoose={setChosen}
            options={value.map(({ id, at, summary }) => ({
              value: id,
              label: formatClockTime(at, timeZone.value),
              hint: [summary?.title, summary?.text].filter(Boolean).join(' · '),
            }))}
          />
        )}
        <Button
          look="icon small quiet push"
          icon="close"
          aria-label="Close the comparison"
          onClick={onClose}
        />
      </Sec>
      {!value ? (
        <Waiting error={error} reload={reload} what="other deliveries" />
      ) : other === undefined ? (
        <p class="t3">The webhook has no other accepted delivery.</p>
      ) : (
        <Differences delivery={delivery} other={other} />
      )}
    </section>
  );
}

/** Other deliveries of the event, the ones before it first; of any event, if there are none. */
function useOthers({ id, uid, eventType, title }: ShownDelivery) {
  const { factory } = useFactory();
  return useLoad(
    async signal => {
      const query = {
        ...{ webhook: uid, outcome: 'Accepted', limit: comparedDeliveriesMax, summary: 'true' as const },
        ...(eventType !== undefined && { event: eventType }),
      };
      const read = (position: { cursor: string } | { after: string }) =>
        callApi('get', '/factories/{factory}/deliveries', {
          factory,
          query: { ...query, ...position },
          signal,
        });
      const [before, after] = await Promise.all([read({ cursor: id }), read({ after: id })]);
      const all = [...before.deliveries, ...after.deliveries];
      const alike = all.filter(({ summary }) => summary?.title === title);
      return alike.length > 0 ? alike : all;
    },
    [factory, id],
  );
}

function Differences({ delivery, other }: { readonly delivery: ShownDelivery; readonly other: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useDelivery(other);
  const [before, after] = [value?.payload, delivery.payload];
  const found = useMemo(
    () =>
      typeof before === 'string' && typeof after === 'string'
        ? compareTrees(parseJsonText(before), parseJsonText(after), shownDifferencesMax)
        : undefined,
    [before, after],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the other delivery" />;
  if (!found) return <p class="t3">The payload of the other delivery is not stored.</p>;
  return (
    <>
      <p class="t3 small">
        <Link class="link" to={{ page: 'delivery', factory, id: value.id }} text={value.title} />{' '}
        {found.length === 0
          ? 'has an equal payload.'
          : `differs in ${found.length === shownDifferencesMax ? 'at least ' : ''}${found.length} ${found.length === 1 ? 'field' : 'fields'}.`}
      </p>
      <ul class="differences">
        {found.map(({ path, before, after }) => (
          <li key={path}>
            <Code text={path} />
            <span>
              {before !== undefined && (
                <del>
                  <Text text={excerpt(before)} />
                </del>
              )}
              {after !== undefined && (
                <ins>
                  <Text text={excerpt(after)} />
                </ins>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
