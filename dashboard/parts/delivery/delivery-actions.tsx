import { useState } from 'preact/hooks';
import type { ShownDelivery } from '../../api-answers.ts';
import { buildApiUrl, callApi, download, requestApi } from '../../api-client.ts';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useKeys } from '../../state/keyboard.ts';
import { type FactoryLocation, toHref } from '../../state/page-location.ts';
import { useAction } from '../../state/use-action.ts';
import { useApi } from '../../state/use-api.ts';
import { formatCount } from '../../text/format-values.ts';
import { ChoiceChip } from '../chips.tsx';
import { Button, LinkButton } from '../controls.tsx';
import { CopyButton, copyText } from '../copyable.tsx';
import { Question } from '../dialog.tsx';
import { Menu } from '../menu.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

interface ActionsProperties {
  readonly delivery: ShownDelivery;
  readonly isLate: boolean;
  readonly list: FactoryLocation;
  readonly onReplayed: () => void;
  readonly onCompare: () => void;
}

/** What can be done with a delivery: replay it, copy it, compare it, keep its body. */
export function DeliveryActions({ delivery, isLate, list, onReplayed, onCompare }: ActionsProperties) {
  const { factory, mayManage } = useFactory();
  const [replaying, setReplaying] = useState(false);
  const { id, payload, outcome, form } = delivery;
  const isStored = payload !== null && outcome !== 'Manual';
  const mayReplay = mayManage && isStored;
  const saving = useAction(() => download(buildBodyUrl(factory, delivery), `${id}.${form ? 'txt' : 'json'}`));
  useKeys({ ...(mayReplay && !isLate && { 'Shift+R': () => setReplaying(true) }) });
  return (
    <div class="actions">
      {mayReplay && (
        <Button
          look="small"
          icon="again"
          label="Replay…"
          aria-keyshortcuts="Shift+R"
          onClick={() => setReplaying(true)}
        />
      )}
      {isStored && <CopyButton text={() => renderAsCurl(factory, delivery)} what="as curl" shown="curl" />}
      {isStored && <Button look="small" label="Compare" onClick={onCompare} />}
      <Menu
        class="btn icon small quiet"
        label="More"
        entries={[
          ...(payload === null ? [] : [{ label: 'Download the body', onChoose: () => saving.run() }]),
          {
            label: 'Copy a link',
            aside: 'u',
            onChoose: () => copyAndTell(linkToDelivery(factory, id), 'link'),
          },
          { label: 'Copy the ID', aside: 'c', onChoose: () => copyAndTell(id, 'ID') },
        ]}
      />
      <LinkButton
        look="icon small quiet only-wide"
        icon="close"
        to={list}
        aria-label="Close"
        aria-keyshortcuts="Escape"
      />
      <ProblemNotice error={saving.error} />
      {replaying && (
        <ReplayQuestion delivery={delivery} onReplayed={onReplayed} onClose={() => setReplaying(false)} />
      )}
    </div>
  );
}

/** Renders the command that sends a delivery again. Fails with `webhook-unknown` if its webhook is deleted. */
async function renderAsCurl(factory: string, delivery: ShownDelivery): Promise<string> {
  const { uid } = delivery;
  const webhook = await callApi('get', '/factories/{factory}/webhooks/{uid}', { factory, uid });
  const body = await requestApi(buildBodyUrl(factory, delivery));
  const { renderCurl } = await import('../../../schema/clients/render-curl.ts');
  return renderCurl(delivery, new Uint8Array(await body.arrayBuffer()), webhook);
}

/** Where the exact body of a delivery is. */
export function buildBodyUrl(factory: string, { id: delivery }: ShownDelivery): string {
  return buildApiUrl('/factories/{factory}/deliveries/{delivery}/payload', { factory, delivery });
}

interface ReplayProperties {
  readonly delivery: ShownDelivery;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

function ReplayQuestion({ delivery, onReplayed, onClose }: ReplayProperties) {
  const { factory } = useFactory();
  const [automation, setAutomation] = useState('');
  const replay = async () => {
    const { runs } = await callApi('post', '/factories/{factory}/deliveries/{delivery}/replay', {
      factory,
      delivery: delivery.id,
      body: automation === '' ? {} : { automation },
    });
    const [first] = runs;
    const href = first && toHref({ page: 'run', factory, id: first.id });
    announce(
      `Started ${formatCount(runs.length, 'run')}`,
      href ? { label: 'Open the run', href } : undefined,
    );
    onReplayed();
  };
  return (
    <Question
      title="Replay the delivery?"
      keep="Cancel"
      act="Start runs"
      acting="Starting…"
      onAct={replay}
      onClose={onClose}
    >
      <p>Starts new runs from the stored payload, with the automations as they are now.</p>
      <AutomationChoice webhook={delivery.uid} value={automation} onChange={setAutomation} />
    </Question>
  );
}

/** Copies a text, and tells so. */
export function copyAndTell(text: string, what: string): void {
  void copyText(text).then(done => announce(done ? `Copied the ${what}` : `Could not copy the ${what}`));
}

/** The address of a delivery, to share. */
export function linkToDelivery(factory: string, id: string): string {
  return new URL(toHref({ page: 'delivery', factory, id }), location.href).href;
}

interface ChoiceProperties {
  /** Name or UID of the webhook whose automations are offered; undefined for all. */
  readonly webhook: string | undefined;
  /** Empty for all. */
  readonly value: string;
  readonly onChange: (automation: string) => void;
}

/** Chooses which automation gets new runs: all that match, or only one of those that listen now and are enabled. */
export function AutomationChoice({ webhook, value, onChange }: ChoiceProperties) {
  const { factory } = useFactory();
  const { value: known } = useApi('/factories/{factory}/automations', { factory });
  const listening = known?.automations.filter(
    ({ enabled, triggers }) =>
      enabled &&
      triggers.some(trigger => webhook === undefined || [trigger.uid, trigger.webhook].includes(webhook)),
  );
  return (
    <p class="flow">
      <span class="label">Automation</span>
      <ChoiceChip
        label="Automation"
        value={value}
        onChoose={onChange}
        options={[
          { value: '', label: 'All that match' },
          ...(listening ?? []).map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </p>
  );
}
