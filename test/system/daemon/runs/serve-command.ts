import { expect, onTestFinished } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { applyTriggered } from '../../../support/apply-triggered.ts';
import {
  bearerOf,
  type DaemonOptions,
  startDaemonForTest,
  type TestDaemon,
} from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { storeIn } from '../../../support/stored.ts';
import { startWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

interface Served<Daemon> {
  readonly workspace: Workspace;
  readonly store: Store;
  readonly daemon: Daemon;
  post(body: string | Uint8Array, headers?: Record<string, string>): Promise<string>;
  runsOf(deliveryId: string): Promise<Run[]>;
}

export interface ServeOptions {
  readonly timeLimitSeconds?: number;
  /** Instead of one for the script. */
  readonly runner?: object;
  readonly user?: string;
  readonly processes?: number;
  readonly workspace?: object;
  readonly directory?: string;
  readonly attempts?: number;
  readonly env?: Record<string, string>;
}

/** A daemon as a process whose command is this script, with automations that each start a run of every delivery. */
export function serve(
  automations: readonly string[],
  interpreter: string,
  script: string,
  { env = {}, ...options }: ServeOptions = {},
): Promise<Served<TestDaemon>> {
  const start = (daemon: DaemonOptions) => startDaemonForTest({ env, ...daemon });
  return serveWith(start, automations, interpreter, script, options);
}

/** The same with a daemon in the test's process. */
export function serveHere(
  automations: readonly string[],
  interpreter: string,
  script: string,
  options: Omit<ServeOptions, 'env'> = {},
): Promise<Served<WebhookDaemon>> {
  return serveWith(startWebhookDaemon, automations, interpreter, script, options);
}

async function serveWith<Daemon extends WebhookDaemon | TestDaemon>(
  start: (options: DaemonOptions) => Promise<Daemon>,
  automations: readonly string[],
  interpreter: string,
  script: string,
  { directory, attempts = 1, runner: given, ...limits }: Omit<ServeOptions, 'env'>,
): Promise<Served<Daemon>> {
  const workspace = makeWorkspace();
  workspace.write('command', script);
  const { uid, secret } = await applyTriggered(
    workspace,
    Object.fromEntries(automations.map(name => [name, { prompt: `Do ${name}.` }])),
    { name: 'orders', deliveryIdHeader: 'X-Event' },
  );
  // The user of the command may be unable to read the file.
  const argv = [interpreter, ...(limits.user ? ['-c', script] : [workspace.path('command')])];
  const runner = given ?? { kind: 'command', argv, outputBytes: 10_000, ...limits };
  const daemon = await start({
    workspace,
    settings: {
      runs: { runner, directory, attempts, concurrency: 8, backOff: { firstSeconds: 0.001 } },
    },
  });
  const store = storeIn(homeAt(workspace.home));
  onTestFinished(() => store.close());
  return {
    workspace,
    store,
    daemon,
    post: async (body, headers = {}) => {
      const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
      const answer = await send(url, { headers: { ...bearerOf(secret), ...headers }, body });
      expect(answer.status).toBe(202);
      return answer.deliveryId ?? '';
    },
    runsOf: deliveryId => store.deliveries.listRunsOfDelivery(deliveryId),
  };
}
