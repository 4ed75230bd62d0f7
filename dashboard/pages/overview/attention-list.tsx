import { callApi } from '../../api-client.ts';
import { Menu } from '../../parts/menu.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Since, Text } from '../../parts/text.tsx';
import { announce } from '../../state/announcements.ts';
import { type AttentionItem, hrefOfItem, isSeen, keyOf } from '../../state/attention.ts';
import { readAgain } from '../../state/connection.ts';
import { mayManage } from '../../state/session.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { useAction } from '../../state/use-action.ts';
import { formatLength, formatMoment } from '../../text/format-time.ts';
import { lookOfAttention } from '../../text/looks.ts';
import { sayAlert } from '../../text/sentences.ts';
import { type Details, explainItem } from './explain-item.tsx';

interface Properties {
  /** Whether each subject needs the name of its factory. */
  readonly isNamed: boolean;
}

interface ListProperties extends Properties {
  /** The worst first. */
  readonly items: readonly AttentionItem[];
  /** What is known of the causes, by the keys of the items. */
  readonly details: ReadonlyMap<string, Details>;
}

interface ItemProperties extends Properties {
  readonly item: AttentionItem;
}

/** What needs attention, the worst first; then, a line each, what somebody has acknowledged or muted. */
export function AttentionList({ items, isNamed, details }: ListProperties) {
  const open = items.filter(item => !isSeen(item));
  const acknowledged = items.filter(item => item.acknowledged);
  const muted = items.filter(item => isSeen(item) && !item.acknowledged);
  return (
    <>
      {open.length > 0 && (
        <ul class="attention" aria-label="Needs attention">
          {open.map(item => (
            <OpenItem key={keyOf(item)} item={item} isNamed={isNamed} details={details.get(keyOf(item))} />
          ))}
        </ul>
      )}
      <SeenItems label="Acknowledged" items={acknowledged} isNamed={isNamed} />
      <SeenItems label="Muted" items={muted} isNamed={isNamed} />
    </>
  );
}

interface SeenProperties extends Properties {
  readonly label: string;
  readonly items: readonly AttentionItem[];
}

function SeenItems({ label, items, isNamed }: SeenProperties) {
  if (items.length === 0) return null;
  return (
    <p class="acked small">
      {label}:{' '}
      {items.map((item, index) => (
        <span key={keyOf(item)}>
          {index > 0 && '; '}
          <SeenItem item={item} isNamed={isNamed} />
        </span>
      ))}
    </p>
  );
}

function OpenItem({ item, isNamed, details }: ItemProperties & { readonly details: Details | undefined }) {
  const [sign, word] = lookOfAttention[item.type];
  const { title, cause, action } = explainItem(item, details);
  const acknowledging = useAction(() => acknowledge(item));
  const mayAcknowledge = item.id !== null && item.factory !== null && mayManage(item.factory);
  return (
    <li>
      <Sign name={sign} label={word} />
      <div>
        {isNamed && <FactoryName item={item} />}
        <ItemLink item={item} class="name">
          {title}
        </ItemLink>
        {item.since !== null && (
          <span class="since">
            since <Since at={item.since} />
          </span>
        )}
      </div>
      <div class="cause">
        <p>{cause}</p>
        <ProblemNotice error={acknowledging.error} />
      </div>
      <div class="actions">
        {action}
        {mayAcknowledge && (
          <Menu
            class="btn small icon quiet"
            label={`More: ${sayAlert(item)}`}
            entries={[{ label: 'Acknowledge', onChoose: () => acknowledging.run() }]}
          />
        )}
      </div>
    </li>
  );
}

function SeenItem({ item, isNamed }: ItemProperties) {
  const { since, acknowledged, muted } = item;
  const mark = acknowledged ?? muted;
  const at = mark?.at ?? '';
  return (
    <>
      {isNamed && <FactoryName item={item} />}
      <ItemLink item={item} class="t2">
        <Text text={sayAlert(item)} />
      </ItemLink>
      {since !== null && ` for ${formatLength(nowMs.value - Date.parse(since))}`} · by{' '}
      <Text text={mark?.by ?? ''} /> {acknowledged ? 'at' : 'until'}{' '}
      <time dateTime={at}>{formatMoment(Date.parse(at), nowMs.value, timeZone.value)}</time>
    </>
  );
}

function FactoryName({ item: { factory } }: Pick<ItemProperties, 'item'>) {
  return factory === null ? null : (
    <span class="t3">
      <bdi>{factory}</bdi> /{' '}
    </span>
  );
}

interface LinkProperties {
  readonly item: AttentionItem;
  readonly class: string;
  readonly children: preact.ComponentChildren;
}

function ItemLink({ item, class: className, children }: LinkProperties) {
  const href = hrefOfItem(item);
  return href === undefined ? (
    <span class={className}>{children}</span>
  ) : (
    <a class={className} href={href}>
      {children}
    </a>
  );
}

/** Receivers are not told again, and the item moves to the line of those that somebody has seen. */
async function acknowledge(item: AttentionItem): Promise<void> {
  const { factory, id } = item;
  if (factory === null || id === null) return;
  const path = '/factories/{factory}/alerts/{alert}/acknowledge';
  await callApi('post', path, { factory, alert: id, body: {} });
  readAgain();
  document.querySelector('h1')?.focus();
  announce(`Acknowledged: ${sayAlert(item)}`);
}
