import { callApi } from '../../api-client.ts';
import type { ShownWebhook } from '../../api-types.ts';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { Switch } from '../../parts/switch.tsx';
import { announce } from '../../state/announcements.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useAction } from '../../state/use-action.ts';

interface Properties {
  readonly webhook: ShownWebhook;
  readonly onChanged: (webhook: ShownWebhook) => void;
}

export function EnabledSwitch({ webhook: { name, uid, enabled }, onChanged }: Properties) {
  const { factory } = useFactory();
  const { busy, error, run } = useAction(async (enable: boolean) => {
    const path = '/factories/{factory}/webhooks/{uid}';
    onChanged(await callApi('patch', path, { factory, uid, body: { enabled: enable } }));
    announce(enable ? `${name} accepts deliveries` : `${name} is disabled and answers 404`);
  });
  return (
    <>
      <Switch label="Enabled" on={enabled} disabled={busy} onToggle={run} />
      <ProblemNotice error={error} />
    </>
  );
}
