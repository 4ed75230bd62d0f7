import { postToReceiver } from '../../receivers/post-to-receiver.ts';
import { createHeaders, type HttpDeps, readToken } from './http.ts';
import { listIds } from './http-body.ts';
import { maskSecrets } from './http-secrets.ts';
import type { HttpRunnerSettings } from './http-settings.ts';
import type { TellCancelled } from './runner.ts';

/** Posts to `callback.cancelUrl`, if the settings have one, once: reports of the run get 410, whether it was told or not. */
export function createTellCancelled(
  settings: HttpRunnerSettings,
  { environment, setting, store, nowMs }: Pick<HttpDeps, 'environment' | 'setting' | 'store' | 'nowMs'>,
): TellCancelled | undefined {
  const url = settings.callback?.cancelUrl;
  if (url === undefined) return undefined;
  const token = readToken(settings, { environment, setting });
  return async (run, signal) => {
    const created = await createHeaders({ run }, settings, token, store);
    if ('kind' in created) return created.reason;
    const post = {
      ...{ url, timeLimitMs: settings.timeLimitSeconds * 1_000, signal, body: JSON.stringify(listIds(run)) },
      headers: { ...created.headers, 'content-type': 'application/json' },
    };
    const { reason } = await postToReceiver(post, nowMs);
    return reason && maskSecrets(created.secrets).text(reason);
  };
}
