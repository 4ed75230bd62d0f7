import { useEffect, useRef, useState } from 'preact/hooks';
import { hasEnded } from '../../../schema/delivery.ts';
import type { ShownDelivery } from '../../api-answers.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useKeys } from '../../state/keyboard.ts';
import { useDelivery } from '../../state/loaded-objects.ts';
import { useRunRefresh } from '../../state/loading.ts';
import { type FactoryLocation, toHref } from '../../state/page-location.ts';
import { nowMs } from '../../state/time.ts';
import { formatDuration } from '../../text/format-time.ts';
import { formatCount } from '../../text/format-values.ts';
import { lookOfRun } from '../../text/looks.ts';
import { toSentence } from '../../text/sentences.ts';
import { LinkButton } from '../controls.tsx';
import { Icon } from '../icons.tsx';
import { Waiting } from '../lists.tsx';
import { Notice } from '../notice.tsx';
import { Breadcrumb, useWindowTitle } from '../page-heading.tsx';
import { State } from '../signs.tsx';
import { Sec } from '../tables.tsx';
import { ExactTime, Fact, Facts, Id, Link, Size, Text } from '../text.tsx';
import { Comparison } from './comparison.tsx';
import { buildBodyUrl, copyAndTell, DeliveryActions, linkToDelivery } from './delivery-actions.tsx';
import { DeliveryParts } from './delivery-parts.tsx';
import { WhySection } from './why-section.tsx';

interface Properties {
  readonly id: string;
  /** The list from which it was opened. */
  readonly list: FactoryLocation;
  /** Lists deliveries whose payload contains a text. */
  readonly onSearch: (text: string) => void;
}

/** One delivery: what it says, what it started and why, and what was kept of it. */
export function DeliveryPane({ id, list, onSearch }: Properties) {
  const { value, error, reload } = useDelivery(id);
  // What was shown stays until the next one is there.
  const isLate = value !== undefined && value.id !== id;
  const { factory } = useFactory();
  useKeys({ c: () => copyAndTell(id, 'ID'), u: () => copyAndTell(linkToDelivery(factory, id), 'link') });
  return (
    <article class="detail" aria-label="Delivery" aria-busy={isLate}>
      <div class="only-narrow">
        <Breadcrumb to={list} label="Deliveries" />
      </div>
      {!value || (isLate && error !== undefined) ? (
        <Waiting error={error} reload={reload} what="the delivery" />
      ) : (
        <Loaded
          key={value.id}
          delivery={value}
          isLate={isLate}
          reload={reload}
          list={list}
          onSearch={onSearch}
        />
      )}
    </article>
  );
}

interface LoadedProperties extends Omit<Properties, 'id'> {
  readonly delivery: ShownDelivery;
  /** Whether another delivery is being read. */
  readonly isLate: boolean;
  /** Reads the delivery again. */
  readonly reload: () => void;
}

function Loaded({ delivery, isLate, reload, list, onSearch }: LoadedProperties) {
  const { mayManage } = useFactory();
  const { id, title, text, outcome, reason, remedy, duplicateOf } = delivery;
  const [comparing, setComparing] = useState(false);
  useWindowTitle(title);
  useRunRefresh(reload, delivery.runs);
  return (
    <>
      <div class="head">
        <div>
          <DetailTitle title={title} />
          {text !== null && (
            <p class="t2">
              <Text text={text} />
            </p>
          )}
        </div>
        <DeliveryActions
          delivery={delivery}
          isLate={isLate}
          list={list}
          onReplayed={reload}
          onCompare={() => setComparing(!comparing)}
        />
      </div>
      <DeliveryFacts delivery={delivery} />
      {reason !== undefined && (
        <Notice tone="bad" sign="rejected" cause={<Text text={toSentence(reason)} />}>
          {remedy !== undefined && <Text text={toSentence(remedy)} />}
        </Notice>
      )}
      {reason === undefined && outcome === 'Rejected (auth)' && !mayManage && (
        <p class="t3">You need the manage permission to see what was wrong with the credential.</p>
      )}
      {duplicateOf === undefined ? (
        <Content
          delivery={delivery}
          onSearch={onSearch}
          comparing={comparing}
          onClose={() => setComparing(false)}
        />
      ) : (
        <Original key={id} id={duplicateOf} list={list} onSearch={onSearch} />
      )}
    </>
  );
}

/** The title. It takes the focus if the list gave way to it. */
function DetailTitle({ title }: { readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  useKeys({ o: () => heading.current?.focus() });
  return (
    <h1 ref={heading} tabIndex={-1}>
      <Text text={title} />
    </h1>
  );
}

interface OriginalProperties {
  readonly id: string;
  readonly list: FactoryLocation;
  readonly onSearch: (text: string) => void;
}

/** A duplicate started nothing: shows the delivery that it repeats. */
function Original({ id, list, onSearch }: OriginalProperties) {
  const { value, error, reload } = useDelivery(id);
  return (
    <>
      <Notice
        tone="warn"
        sign="duplicate"
        cause="A duplicate: it started no run."
        more={
          <>
            The original came {value ? <ExactTime at={value.at} /> : 'before'}. Below are its runs and its
            payload.
          </>
        }
        action={
          <LinkButton
            look="small"
            label="Open the original"
            to={{ ...list, page: 'delivery', id } as FactoryLocation}
          />
        }
      />
      {value ? (
        <Content delivery={value} onSearch={onSearch} />
      ) : (
        <Waiting error={error} reload={reload} what="the original" />
      )}
    </>
  );
}

interface ContentProperties {
  readonly delivery: ShownDelivery;
  readonly onSearch: (text: string) => void;
  readonly comparing?: boolean;
  readonly onClose?: () => void;
}

/** The runs of a delivery, why it started them, and its payload. */
function Content({ delivery, onSearch, comparing = false, onClose = () => undefined }: ContentProperties) {
  const { factory } = useFactory();
  const { payload, outcome, evaluation, commit } = delivery;
  const filter = (text: string) => {
    onSearch(text);
    announce(`The list shows deliveries whose payload contains ${text}`);
  };
  return (
    <>
      {comparing && <Comparison delivery={delivery} onClose={onClose} />}
      {(outcome === 'Accepted' || delivery.runs.length > 0) && <Runs delivery={delivery} />}
      {evaluation && outcome !== 'Manual' && <WhySection evaluation={evaluation} commit={commit} />}
      {payload === null ? (
        <p class="t3 unstored">Payloads are stored for accepted deliveries only.</p>
      ) : (
        <DeliveryParts
          delivery={delivery}
          payload={payload}
          bodyUrl={buildBodyUrl(factory, delivery)}
          onFilter={filter}
        />
      )}
    </>
  );
}

function DeliveryFacts({
  delivery: { id, uid, webhook, at, size, outcome },
}: {
  readonly delivery: ShownDelivery;
}) {
  const { factory } = useFactory();
  return (
    <Facts across>
      {outcome !== 'Manual' && (
        <Fact
          term="Webhook"
          value={<Link class="link" to={{ page: 'webhook', factory, id: uid }} text={webhook} />}
        />
      )}
      <Fact term={outcome === 'Manual' ? 'Started' : 'Received'} value={<ExactTime at={at} />} />
      <Fact term="Size" value={<Size bytes={size} />} />
      <Fact term="Delivery" value={<Id id={id} />} />
    </Facts>
  );
}

function Runs({ delivery: { runs } }: { readonly delivery: ShownDelivery }) {
  const { factory } = useFactory();
  return (
    <section aria-label="Runs">
      <Sec title={runs.length === 0 ? 'Started no run' : 'Runs'} />
      {runs.map(run => {
        const [sign, word] = lookOfRun(run);
        return (
          <a key={run.id} class="flow run-line" href={toHref({ page: 'run', factory, id: run.id })}>
            <State sign={sign}>
              <Text text={run.automation} />
            </State>
            <Text class="t3 cut" text={describeRun(run, word)} />
            <span class="push t3">
              <Icon name="right" />
            </span>
          </a>
        );
      })}
    </section>
  );
}

function describeRun(run: ShownDelivery['runs'][number], word: string): string {
  const { state, attempts, attemptsMax, startedAt, finishedAt, replay, manual, deliveryCount, error } = run;
  const untilMs = finishedAt === null ? nowMs.value : Date.parse(finishedAt);
  const parts = [
    word,
    attempts > 1 && `attempt ${attempts}${attemptsMax === undefined ? '' : ` of ${attemptsMax}`}`,
    startedAt !== null &&
      (hasEnded(state) || state === 'running') &&
      formatDuration(untilMs - Date.parse(startedAt)),
    replay && 'replay',
    manual && 'started by hand',
    deliveryCount !== undefined && `for ${formatCount(deliveryCount, 'delivery', 'deliveries')}`,
    error?.split('\n')[0],
  ];
  return parts.filter(Boolean).join(' · ');
}
