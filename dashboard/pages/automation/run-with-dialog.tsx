import { useState } from 'preact/hooks';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { formatJson } from '../../../schema/text/json-text.ts';
import type { ListedDelivery } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { ChoiceChip } from '../../parts/chips.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { CodeField } from '../../parts/fields.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { announce } from '../../state/announcements.ts';
import type { AutomationBody } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';
import { timeZone } from '../../state/time.ts';
import { formatClockTime } from '../../text/format-time.ts';

interface Properties {
  readonly name: string;
  readonly body: AutomationBody;
  /** The webhooks that the automation selects. */
  readonly webhooks: readonly { readonly uid: string }[];
  readonly onClose: () => void;
}

/** @limit Most stored deliveries that a run by hand offers, newest first: more would not be read in a menu. */
const offeredDeliveriesMax = 50;

/** Starts a run of the draft with the payload of a stored delivery, which can be edited. */
export function RunWithDialog({ name, body, webhooks, onClose }: Properties) {
  const { factory } = useFactory();
  const [chosen, setChosen] = useState<string>();
  const [edited, setEdited] = useState<string>();
  const stored = useStored(webhooks.map(({ uid }) => uid));
  const id = chosen ?? stored.value?.[0]?.id;
  const delivery = useLoad(
    async signal =>
      id === undefined
        ? undefined
        : callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
  const shown = delivery.value;
  const payload = edited ?? (shown ? formatJson(shown.payload ?? '{}') : '{}');
  const start = async () => {
    parseJsonText(payload);
    const headers = shown?.headers === undefined ? {} : { headers: shown.headers };
    const { runId } = await callApi('post', '/factories/{factory}/automation-run', {
      factory,
      body: { draft: { name, ...body }, payload, ...headers, evenIfDisabled: true },
    });
    announce(`Started a run of ${name}`, {
      label: 'Open the run',
      href: toHref({ page: 'run', factory, id: runId }),
    });
    onClose();
  };
  return (
    <FormDialog title={`Run ${name} with…`} action="Start the run" onSubmit={start} onClose={onClose}>
      <p>The run executes what is in the editor now. Its triggers are not asked.</p>
      <ProblemNotice error={stored.error ?? delivery.error} />
      {id !== undefined && (
        <DeliveryChoice
          id={id}
          deliveries={stored.value ?? []}
          onChoose={value => {
            setChosen(value);
            setEdited(undefined);
          }}
        />
      )}
      <CodeField
        label="Payload"
        hint="JSON. The run gets it as event-payload.json."
        rows={12}
        value={payload}
        onInput={setEdited}
      />
    </FormDialog>
  );
}

/** Reads the newest accepted deliveries of webhooks. */
function useStored(webhooks: readonly string[]) {
  const { factory } = useFactory();
  return useLoad(
    async signal => {
      const query = { outcome: 'Accepted' as const, limit: offeredDeliveriesMax, summary: 'true' as const };
      const lists = await Promise.all(
        webhooks.map(webhook =>
          callApi('get', '/factories/{factory}/deliveries', {
            factory,
            query: { ...query, webhook },
            signal,
          }),
        ),
      );
      const deliveries = lists.flatMap(({ deliveries }) => deliveries);
      return deliveries.sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, offeredDeliveriesMax);
    },
    [factory, webhooks.join(' ')],
  );
}

interface ChoiceProperties {
  readonly id: string;
  readonly deliveries: readonly ListedDelivery[];
  readonly onChoose: (id: string) => void;
}

function DeliveryChoice({ id, deliveries, onChoose }: ChoiceProperties) {
  return (
    <p class="flow">
      With the payload of
      <ChoiceChip
        label="Delivery"
        value={id}
        options={deliveries.map(({ id, at, summary, webhook }) => ({
          value: id,
          label: [summary?.title ?? webhook, summary?.text].filter(Boolean).join(' · '),
          hint: formatClockTime(at, timeZone.value),
        }))}
        onChoose={onChoose}
      />
    </p>
  );
}
