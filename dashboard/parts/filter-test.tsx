import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { parseJsonText } from '../../json/parse-json-text.ts';
import { formatJson } from '../../schema/text/json-text.ts';
import { callApi } from '../api-client.ts';
import type { ListedDelivery } from '../api-types.ts';
import type { TriggerBody } from '../state/automation-draft.ts';
import { useFactory } from '../state/current-factory.ts';
import { useDelivery } from '../state/loaded-objects.ts';
import { useLoad } from '../state/loading.ts';
import { formatAge } from '../text/format-time.ts';
import { formatSize } from '../text/format-values.ts';
import { CopyableBlock } from './copyable.tsx';
import { CodeField, Field } from './fields.tsx';
import { Waiting } from './lists.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { TriggerVerdictPanel } from './trigger-verdict.tsx';

interface PastedPayloadProperties {
  readonly text: string;
  readonly onInput: (text: string) => void;
  /** Renders what follows a payload that is valid JSON. */
  readonly children: (payload: unknown) => ComponentChildren;
}

/** An automation by its name, or the triggers of a draft. */
type Subject = { readonly automation: string } | { readonly triggers: TriggerBody[] };

interface Properties {
  readonly subject: Subject;
  /** UID of the webhook whose deliveries are offered; undefined for all webhooks. */
  readonly webhook: string | undefined;
}

/** @limit Most stored deliveries that a filter test offers, newest first: more would not be read in a menu. */
const offeredDeliveriesMax = 50;
const pasted = 'pasted';
/** Time from the last keystroke to the test. */
const pauseMs = 250;

/** Tests a filter against a stored delivery or a pasted payload, and again whenever the filter changes. */
export function FilterTest({ subject, webhook }: Properties) {
  const { factory } = useFactory();
  const [chosen, setChosen] = useState<string>();
  const [payload, setPayload] = useState('');
  const stored = useLoad(
    signal =>
      callApi('get', '/factories/{factory}/deliveries', {
        factory,
        query: { webhook, outcome: 'Accepted', limit: offeredDeliveriesMax },
        signal,
      }),
    [factory, webhook],
  );
  if (!stored.value) return <Waiting error={stored.error} reload={stored.reload} what="stored deliveries" />;
  const { deliveries } = stored.value;
  const selected = chosen ?? deliveries[0]?.id ?? pasted;
  return (
    <div class="test stack">
      <Field label="Test filter against">
        {ids => (
          <select {...ids} value={selected} onChange={event => setChosen(event.currentTarget.value)}>
            {deliveries.map(delivery => (
              <option key={delivery.id} value={delivery.id}>
                {formatChoice(delivery, webhook === undefined)}
              </option>
            ))}
            <option value={pasted}>A pasted payload</option>
          </select>
        )}
      </Field>
      {selected === pasted ? (
        <PastedPayload text={payload} onInput={setPayload}>
          {parsed => <FilterVerdict subject={subject} against={{ payload: parsed }} />}
        </PastedPayload>
      ) : (
        <>
          <FilterVerdict subject={subject} against={{ delivery: selected }} />
          <StoredPayload key={selected} delivery={selected} />
        </>
      )}
    </div>
  );
}

function formatChoice({ id, webhook, at, size }: ListedDelivery, withWebhook: boolean): string {
  const age = formatAge(Date.parse(at), Date.now());
  return [age, ...(withWebhook ? [webhook] : []), formatSize(size), id].join(' · ');
}

interface VerdictProperties {
  readonly subject: Subject;
  readonly against: { readonly delivery: string } | { readonly payload: unknown };
}

function FilterVerdict({ subject, against }: VerdictProperties) {
  const { factory } = useFactory();
  const request = useDebounced(JSON.stringify({ ...subject, ...against }), pauseMs);
  const { value, error, reload } = useLoad(
    signal =>
      callApi('post', '/factories/{factory}/automation-test', {
        factory,
        body: parseJsonText(request) as object,
        signal,
      }),
    [factory, request],
  );
  if (error !== undefined) return <ProblemNotice error={error} />;
  if (!value) return <Waiting error={undefined} reload={reload} what="the result" />;
  return (
    <div role="status">
      {!value.enabled && <p class="hint">The automation is disabled: it starts no runs.</p>}
      {value.triggers.map((verdict, index) => (
        <TriggerVerdictPanel
          key={index}
          verdict={verdict}
          warnings={value.warnings.filter(({ trigger }) => trigger === index)}
        />
      ))}
    </div>
  );
}

/** Returns the value once it has not changed for `ms`. */
function useDebounced<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface PayloadProperties {
  /** The ID of the delivery. */
  readonly delivery: string;
}

/** The payload of a delivery, loaded when the user opens it. */
function StoredPayload({ delivery }: PayloadProperties) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>Show payload</summary>
      {open && <LoadedPayload delivery={delivery} />}
    </details>
  );
}

function LoadedPayload({ delivery }: PayloadProperties) {
  const { value, error, reload } = useDelivery(delivery);
  if (!value) return <Waiting error={error} reload={reload} what="the payload" />;
  return <CopyableBlock text={formatJson(value.payload ?? '')} what="payload" />;
}

/** A payload that the user types or pastes. */
function PastedPayload({ text, onInput, children }: PastedPayloadProperties) {
  const parsed = parseJson(text);
  return (
    <>
      <CodeField
        label="Payload"
        hint="JSON, tested as if it came to the selected webhook."
        rows={5}
        value={text}
        onInput={onInput}
      />
      {parsed && children(parsed.value)}
      {!parsed && text.trim() !== '' && <p class="mistake">The payload is not valid JSON.</p>}
    </>
  );
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJsonText(text) };
  } catch {
    return undefined;
  }
}
