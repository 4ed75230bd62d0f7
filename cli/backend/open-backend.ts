import type { Command } from 'commander';
import { type Context, findPlace, openContext } from '../context.ts';
import type { Place } from '../global-options.ts';
import type { Backend } from './backend.ts';
import { findServer } from './server-address.ts';

/** Opens the server that the command names, otherwise the home with its store. Loads only the module that it uses. */
export async function openBackend(
  command: Command,
): Promise<Place & { readonly backend: Backend } & Partial<Pick<Context, 'store'>>> {
  const server = findServer(command);
  if (server) {
    const [place, { createServerBackend }] = await Promise.all([findPlace(command), import('./server.ts')]);
    return { ...place, backend: createServerBackend(server, place) };
  }
  const [context, { createHomeBackend }] = await Promise.all([openContext(command), import('./home.ts')]);
  return { ...context, backend: createHomeBackend(context) };
}
