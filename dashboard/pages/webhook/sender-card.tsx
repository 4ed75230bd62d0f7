import { useState } from 'preact/hooks';
import { listMissedEvents, type MissedClient, redeliverAll } from '../../../schema/clients/missed-events.ts';
import type { ShownSender, ShownWebhook } from '../../api-answers.ts';
import { callApi } from '../../api-client.ts';
import { Button } from '../../parts/controls.tsx';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Sign } from '../../parts/signs.tsx';
import { Text, Time, WithCode } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { type Loading, useLoad } from '../../state/loading.ts';
import { useAction } from '../../state/use-action.ts';

/** The hook of a webhook as its provider last described it; null if nothing was described. */
export function useHook({ uid, sender }: ShownWebhook): Loading<ShownSender | null> {
  const { factory } = useFactory();
  return useLoad(
    async signal => {
      if (sender === null) return null;
      const { senders } = await callApi('get', '/factories/{factory}/senders', { factory, signal });
      return senders.find(known => known.uid === uid) ?? null;
    },
    [factory, uid, sender],
  );
}

interface Properties {
  readonly webhook: ShownWebhook;
  readonly known: ShownSender | null | undefined;
}

/** Shows the hook, with a button to ask the provider again. Renders nothing for a webhook without a known hook. */
export function SenderCard({ webhook: { uid }, known }: Properties) {
  const { factory, mayManage } = useFactory();
  const [checked, setChecked] = useState<ShownSender>();
  const check = useAction(async () => {
    const path = '/factories/{factory}/webhooks/{uid}/sender/check';
    setChecked(await callApi('post', path, { factory, uid, body: {} }));
  });
  const shown = checked?.uid === uid ? checked : known;
  if (!shown) return null;
  const { at, checkedAt, findings } = shown;
  return (
    <section aria-labelledby="sender">
      <div class="sec">
        <h2 id="sender">
          Hook at <Text text={at} />
        </h2>
        {mayManage && (
          <span class="push">
            <Button
              look="small"
              label={check.busy ? 'Checking…' : 'Check now'}
              {...check.control}
              onClick={() => check.run()}
            />
          </span>
        )}
      </div>
      <ul class="stack">
        {findings.map(({ code, severity, message, remedy }) => (
          <li key={code} class="finding">
            <Sign name={signs[severity]} label={severity} />
            <b>
              <Text text={message} />
            </b>
            <span class="t2">
              <WithCode text={remedy} />
            </span>
            {mayManage && code === 'missed' && (
              <Redeliver uid={uid} since={shown.missed?.since ?? ''} onDone={() => check.run()} />
            )}
          </li>
        ))}
      </ul>
      {checkedAt !== null && (
        <p class="hint" role="status">
          {findings.length === 0 && 'As the definition and the automations need it. '}Checked{' '}
          <Time at={checkedAt} />
        </p>
      )}
      <ProblemNotice error={check.error} />
    </section>
  );
}

interface RedeliverProperties {
  readonly uid: string;
  readonly since: string;
  readonly onDone: () => void;
}

/** Asks the provider to send missed events again, as long as the page is open. Each request is stored, so that this can go on later. */
function Redeliver({ uid, since, onDone }: RedeliverProperties) {
  const { factory } = useFactory();
  const [progress, setProgress] = useState('');
  const path = '/factories/{factory}/webhooks/{uid}/sender';
  const client: MissedClient = {
    list: body => callApi('post', `${path}/missed`, { factory, uid, body }),
    redeliver: body => callApi('post', `${path}/redeliver`, { factory, uid, body }),
    wait: ms => new Promise(resolve => setTimeout(resolve, ms)),
    onProgress: setProgress,
  };
  const list = () => listMissedEvents(client, { since, all: false });
  const redeliver = useAction(async () => {
    const { accepted, missing, refused } = await redeliverAll({ client, again: false, list }, await list());
    const failed = missing.length + refused.length;
    setProgress(`${accepted} back${failed > 0 ? `, ${failed} not` : ''}.`);
    onDone();
  });
  return (
    <div class="actions">
      <Button
        look="small"
        label="Ask for them again"
        {...redeliver.control}
        onClick={() => redeliver.run()}
      />
      <span class="hint" role="status">
        {progress}
      </span>
      <ProblemNotice error={redeliver.error} />
    </div>
  );
}

const signs = { error: 'failed', warning: 'warning', note: 'accepted' } as const;
