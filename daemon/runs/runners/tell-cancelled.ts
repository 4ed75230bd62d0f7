import { postToReceiver } from '../../receivers/post-to-receiver.ts';
import type { HttpRunnerSettings } from '../run-settings.ts';
import { createRunHeaders, readAuthorization } from './http.ts';
import type { TellCancelled } from './runner.ts';

/** Posts to `callback.cancelUrl`, if the settings have one, once: reports of the run get 410, whether it was told or not. */
export function createTellCancelled(
  settings: HttpRunnerSettings,
  environment: NodeJS.ProcessEnv,
  nowMs: () => number,
): TellCancelled | undefined {
  const url = settings.callback?.cancelUrl;
  if (url === undefined) return undefined;
  const authorization = readAuthorization(settings, environment);
  return async (run, signal) => {
    const { id, deliveryId, webhook, automation, factory, attempts } = run;
    const body = JSON.stringify({
      run: id,
      delivery: deliveryId,
      webhook,
      automation,
      factory,
      attempt: attempts,
    });
    const headers = { ...createRunHeaders({ run }), 'content-type': 'application/json', ...authorization };
    const post = { url, timeLimitMs: settings.timeLimitSeconds * 1_000, signal, headers, body };
    const result = await postToReceiver(post, nowMs, async response => void (await response.body?.cancel()));
    return result.kind === 'succeeded' ? undefined : result.reason;
  };
}
