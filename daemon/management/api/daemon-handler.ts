import type { z } from 'zod';
import type { daemonAnswer } from '../../../schema/api/answers.ts';
import { listGranted } from '../../../schema/grant.ts';
import { isOfferedTo } from '../../../store/ports/daemon-records.ts';
import { listRunners } from '../../runs/run-settings.ts';
import type { DaemonSettings } from '../../settings.ts';
import type { ApiDeps, PortHandlers } from './handler.ts';

/** What a daemon says about itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly startedAt: string;
  readonly settings: Pick<DaemonSettings, 'managementUrl' | 'limits' | 'retention' | 'runs'>;
}

/** Creates the handler that shows the daemon: only named settings, so that no path and no command is among them. */
export function createDaemonHandler(
  { store: { place, replicas }, baseUrl }: Pick<ApiDeps, 'store' | 'baseUrl'>,
  { version, startedAt, settings }: DaemonFacts,
): PortHandlers['showDaemon'] {
  const { managementUrl = null, limits, retention, runs } = settings;
  const { bodyBytes, deliveriesPerMinute, apiRequestsPerMinute, requestSeconds } = limits;
  const runners = listRunners(runs);
  return async ({ caller }) => {
    const granted = listGranted(caller.grants);
    // The name of a runner may tell of the factory that it is for.
    const own = runners.filter(runner => granted?.some(factory => isOfferedTo(runner, factory)) ?? true);
    const body: z.output<typeof daemonAnswer> = {
      ...{ version, startedAt, store: place.postgres ? 'postgresql' : 'home' },
      replicas: replicas ? (await replicas.describe()).alive.length : null,
      ...{ ingressUrl: baseUrl(), managementUrl },
      runners: own.map(({ name, runner, concurrency }) => ({ name, kind: runner.kind, concurrency })),
      limits: { bodyBytes, deliveriesPerMinute, apiRequestsPerMinute, requestSeconds },
      retention: { deliveries: retention.deliveries, days: retention.days },
    };
    return { body };
  };
}
