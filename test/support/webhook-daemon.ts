import { onTestFinished } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import { bearerOf, type DaemonOptions, makeWebhook, type TestDaemon } from './daemon.ts';
import { runningClock, startDaemonHere } from './daemon-here.ts';
import { read } from './http.ts';
import { makeWorkspace } from './workspace.ts';

/** A daemon as a `TestDaemon` gives it, but in the test's own process, which costs a fraction of one of its own. */
export interface WebhookDaemon
  extends Pick<TestDaemon, 'workspace' | 'ingressUrl' | 'managementUrl' | 'readyz' | 'metrics' | 'webhook'> {
  /** Every line that it logged, of every level. */
  logged(): string;
  stop(): Promise<void>;
}

export async function openWebhookDaemon(
  options: Pick<DaemonOptions, 'workspace' | 'settings'> = {},
): Promise<WebhookDaemon> {
  const { workspace = makeWorkspace(), settings } = options;
  const here = await startDaemonHere(settings, homeAt(workspace.home), undefined, runningClock);
  const { ingressUrl, managementUrl, logged, stop } = here;
  const daemon: Omit<WebhookDaemon, 'webhook'> = {
    ...{ workspace, ingressUrl, managementUrl, logged, stop },
    readyz: async () => JSON.parse(await read(`${managementUrl}/readyz`)),
    metrics: () => read(`${managementUrl}/metrics`),
  };
  return { ...daemon, webhook: given => makeWebhook(daemon, given) };
}

/** Starts a daemon, and stops it when the test ends. */
export async function startWebhookDaemon(
  options?: Pick<DaemonOptions, 'workspace' | 'settings'>,
): Promise<WebhookDaemon> {
  const daemon = await openWebhookDaemon(options);
  onTestFinished(() => daemon.stop());
  return daemon;
}

/** Switches a webhook as the dashboard does. */
export async function switchWebhook(
  daemon: WebhookDaemon,
  token: string,
  uid: string,
  enabled: boolean,
): Promise<void> {
  const response = await fetch(`${daemon.managementUrl}/api/v1/factories/default/webhooks/${uid}`, {
    method: 'PATCH',
    headers: { ...bearerOf(token), 'Content-Type': 'application/json' },
    body: JSON.stringify({ enabled }),
  });
  if (!response.ok) throw new Error(`the webhook was not switched: ${await response.text()}`);
}
