import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../../api-client.ts';
import type { Verdict } from '../../api-types.ts';
import type { TriggerRequest } from '../../state/automation-draft.ts';
import { nowMs } from '../../state/clock.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';
import { prettyJson } from '../../text/format-json.ts';
import { humanSize } from '../../text/format-size.ts';
import { relativeTime } from '../../text/format-time.ts';
import { CopyableBlock } from '../copyable.tsx';
import { Field } from '../field.tsx';
import { ProblemNotice, Waiting } from '../problem-notice.tsx';
import { TriggerVerdictView } from '../trigger-verdict.tsx';

/** An applied automation, or a draft of triggers. */
type Subject = { readonly automation: string } | { readonly triggers: TriggerRequest[] };

interface Properties {
  readonly subject: Subject;
  /** Whose deliveries are offered; undefined: those of every webhook. */
  readonly webhook: string | undefined;
}

const offered = 50;
const ownPayload = 'own';
/** From the last stroke of a key to the test. */
const restMs = 250;

/** Tells whether a stored delivery would trigger, and why, while the filter is being written. */
export function FilterTest({ subject, webhook }: Properties) {
  const { factory } = useFactory();
  const [chosen, setChosen] = useState<string>();
  const [payload, setPayload] = useState('');
  const stored = useLoad(
    signal =>
      callApi('get', '/factories/{factory}/deliveries', {
        factory,
        query: { webhook, outcome: 'Accepted', limit: offered },
        signal,
      }),
    [factory, webhook],
  );
  if (!stored.value) return <Waiting error={stored.error} reload={stored.reload} what="stored deliveries" />;
  const { deliveries } = stored.value;
  const delivery = chosen ?? deliveries[0]?.id ?? ownPayload;
  return (
    <div class="test stack">
      <Field label="Test filter against">
        {ids => (
          <select {...ids} value={delivery} onChange={event => setChosen(event.currentTarget.value)}>
            {deliveries.map(({ id, webhook: name, at, size }) => (
              <option key={id} value={id}>
                {`${relativeTime(Date.parse(at), nowMs.peek())} · ${webhook ? '' : `${name} · `}${humanSize(size)} · ${id}`}
              </option>
            ))}
            <option value={ownPayload}>A payload that I paste</option>
          </select>
        )}
      </Field>
      {delivery === ownPayload ? (
        <>
          <Field label="Payload" hint="JSON. The webhook check is taken as passed.">
            {ids => (
              <textarea
                {...ids}
                class="code"
                rows={5}
                spellcheck={false}
                value={payload}
                onInput={event => setPayload(event.currentTarget.value)}
              />
            )}
          </Field>
          <PastedVerdict subject={subject} payload={payload} />
        </>
      ) : (
        <>
          <VerdictOf subject={subject} against={{ delivery }} />
          <TestedPayload key={delivery} delivery={delivery} />
        </>
      )}
    </div>
  );
}

/** What the filter is held against, for whoever writes it. */
function TestedPayload({ delivery }: { readonly delivery: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>Its payload</summary>
      {open && <StoredPayload delivery={delivery} />}
    </details>
  );
}

function StoredPayload({ delivery }: { readonly delivery: string }) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery, signal }),
    [factory, delivery],
  );
  if (!value) return <Waiting error={error} reload={reload} what="the payload" />;
  return <CopyableBlock text={prettyJson(value.payload ?? '')} what="payload" />;
}

function PastedVerdict({ subject, payload }: { readonly subject: Subject; readonly payload: string }) {
  if (payload.trim() === '') return null;
  const parsed = parsedOf(payload);
  return parsed ? (
    <VerdictOf subject={subject} against={{ payload: parsed.value }} />
  ) : (
    <p class="mistake">The payload is not JSON yet.</p>
  );
}

function parsedOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

interface VerdictProperties {
  readonly subject: Subject;
  readonly against: { readonly delivery: string } | { readonly payload: unknown };
}

function VerdictOf({ subject, against }: VerdictProperties) {
  const { factory } = useFactory();
  const asked = useRested(JSON.stringify({ ...subject, ...against }), restMs);
  const { value, error, reload } = useLoad<Verdict>(
    signal =>
      callApi('post', '/factories/{factory}/automation-test', { factory, body: JSON.parse(asked), signal }),
    [factory, asked],
  );
  if (error !== undefined) return <ProblemNotice error={error} />;
  if (!value) return <Waiting error={undefined} reload={reload} what="the verdict" />;
  return (
    <div role="status">
      {!value.enabled && (
        <p class="hint">The automation is disabled: until it is enabled it starts nothing.</p>
      )}
      {value.triggers.map((verdict, index) => (
        <TriggerVerdictView key={index} verdict={verdict} />
      ))}
    </div>
  );
}

/** The value, once it has not changed for a while. */
function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
