import { useState } from 'preact/hooks';
import { ApiFailure, type ListedWebhook, type SentTest } from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { announce } from '../state/announcements.ts';
import { useFactory } from '../state/current-factory.ts';
import { toHref } from '../state/page-location.ts';
import { useAction } from '../state/use-action.ts';
import { Button } from './controls.tsx';
import { Question } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { Text } from './text.tsx';

/**
 * Sends a test to a webhook through the ingress. `button` is undefined if nobody may, or if the webhook could not accept it;
 * `shown` is what came of the test, if it is not simply accepted.
 */
export function useSendTest(webhook: ListedWebhook, onTested: (sent: SentTest) => void) {
  const { factory, mayManage } = useFactory();
  const { uid, name, enabled, credential, authMode } = webhook;
  const [refused, setRefused] = useState<SentTest>();
  const [warning, setWarning] = useState<string>();
  const post = async (mayStartRuns: boolean) => {
    setRefused(undefined);
    const path = '/factories/{factory}/webhooks/{uid}/test';
    const sent = await callApi('post', path, { factory, uid, body: { mayStartRuns } });
    onTested(sent);
    const { deliveryId, status, tookMs, runs } = sent;
    if (sent.outcome !== 'Accepted') return setRefused(sent);
    const open = deliveryId && { label: 'Open', href: toHref({ page: 'delivery', factory, id: deliveryId }) };
    const started = runs > 0 ? `, and started ${runs === 1 ? '1 run' : `${runs} runs`}` : '';
    announce(
      `${name} accepted the test: ${status} after ${Math.round(tookMs)} ms${started}`,
      open || undefined,
    );
  };
  const action = useAction(async () => {
    try {
      await post(false);
    } catch (error) {
      const problem = error instanceof ApiFailure ? error.problem : undefined;
      if (problem?.code !== 'test-would-start') throw error;
      setWarning(problem.detail ?? problem.title);
    }
  });
  const shown = (
    <>
      <ProblemNotice error={action.error} />
      {refused && <RefusedTest sent={refused} />}
      {warning !== undefined && (
        <Question
          title="The test starts runs"
          keep="Do not send it"
          act="Send it anyway"
          acting="Sending…"
          onAct={() => post(true)}
          onClose={() => setWarning(undefined)}
        >
          <p>
            <Text text={warning.replace(/;.*/, '.')} />
          </p>
        </Question>
      )}
    </>
  );
  // Only its issuer can make a token.
  const button = mayManage && enabled && credential === 'set' && authMode !== 'oidc' && (
    <Button
      icon="send"
      label={action.busy ? 'Sending…' : 'Send test'}
      {...action.control}
      onClick={action.run}
    />
  );
  return { button, shown };
}

function RefusedTest({ sent: { status, reason, remedy } }: { readonly sent: SentTest }) {
  return (
    <Notice
      tone="bad"
      isAlert
      cause={`The test was refused with ${status}.`}
      more={reason !== null && <Text text={reason} />}
    >
      {remedy !== null && <Text text={remedy} />}
    </Notice>
  );
}
