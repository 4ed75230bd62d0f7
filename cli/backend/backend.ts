import type { Command } from 'commander';
import type { z } from 'zod';
import type { DeliveryDetail, DeliveryView, RunView } from '../../operations/views/delivery-views.ts';
import type * as answers from '../../schema/api/answers.ts';
import type { Outcome, RunState } from '../../schema/delivery.ts';
import { contextOf, type Place, placeOf } from '../context.ts';
import { homeBackend } from './home.ts';
import { serverBackend } from './server.ts';
import { serverOf } from './server-client.ts';

export type WebhooksView = z.output<typeof answers.webhooksAnswer>;
export type AutomationsView = z.output<typeof answers.automationsAnswer>;

export interface DeliveriesWanted {
  /** A webhook's name. */
  readonly webhook?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly limit: number;
}

export interface RunsWanted {
  readonly automation?: string | undefined;
  readonly state?: RunState | undefined;
  readonly limit: number;
}

/** What commands show of a factory: from a home on this machine, or from a daemon's management API. */
export interface Backend {
  webhooks(): Promise<WebhooksView>;
  automations(): Promise<AutomationsView>;
  deliveries(wanted: DeliveriesWanted): Promise<readonly DeliveryView[]>;
  delivery(id: string): Promise<DeliveryDetail>;
  /** The stored body's exact bytes. */
  payload(id: string): Promise<Uint8Array>;
  runs(wanted: RunsWanted): Promise<readonly RunView[]>;
  run(id: string): Promise<RunView>;
  /** Where a run's files are; undefined where that is on another machine. */
  runDirectory(id: string): string | undefined;
}

/** Where a command works, and what it shows from there. */
export async function backendOf(command: Command): Promise<Place & { readonly backend: Backend }> {
  const server = serverOf(command);
  if (server) {
    const place = placeOf(command);
    return { ...place, backend: serverBackend(server, place.factory) };
  }
  const context = await contextOf(command);
  return { ...context, backend: homeBackend(context) };
}
