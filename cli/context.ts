import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpenFactory } from '../operations/factory.ts';
import { definitionNamePattern } from '../schema/definitions/definition-name.ts';
import type { Workspace } from '../schema/definitions/workspace.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/ports.ts';
import { definitionsDirectory } from './definitions/definitions-directory.ts';
import { readWorkspace } from './definitions/workspace-file.ts';
import { CommandError, exitStatus } from './exit-status.ts';
import type { GlobalOptions } from './global-options.ts';
import { renderDiagnostics } from './render/render-diagnostics.ts';

/** What the global options, the environment and hookmill.yaml say about where a command works. */
export interface Place {
  /** The definitions directory, absolute. */
  readonly directory: string;
  readonly factory: string;
  readonly output: 'text' | 'json';
}

/** A place on this machine. */
export interface Context extends Place {
  readonly store: Store;
  /** The ingress' public URL without a trailing slash. */
  readonly baseUrl: string;
}

/** Of a command that works on a home. A server that is named is refused, rather than passed over in silence. */
export async function contextOf(command: Command): Promise<Context> {
  const options: GlobalOptions = command.optsWithGlobals();
  if (options.server) {
    const message = 'this works on a home alone: leave --server and HOOKMILL_SERVER out';
    throw new CommandError(message, exitStatus.usage);
  }
  const { workspace, ...place } = readPlace(options);
  const store = openStore({
    home: resolve(options.home ?? join(place.directory, '.hookmill')),
    environment: process.env,
    lockTimeoutMs: options.lockTimeout * 1000,
    now: () => new Date(),
    readsInThread: command.name() === 'serve',
  });
  const baseUrl =
    process.env.HOOKMILL_BASE_URL ??
    workspace.baseUrl ??
    (await store.daemonAddress.read()) ??
    'http://127.0.0.1:8080';
  return { ...place, store, baseUrl: baseUrl.replace(/\/+$/, '') };
}

/** Of a command that works on a server. */
export function placeOf(command: Command): Place {
  const { workspace: _, ...place } = readPlace(command.optsWithGlobals());
  return place;
}

function readPlace(options: GlobalOptions): Place & { readonly workspace: Workspace } {
  const directory = definitionsDirectory(options);
  const workspace = workspaceOf(directory);
  const factory = options.factory ?? workspace.factory ?? 'default';
  if (!definitionNamePattern.test(factory)) {
    const rule = 'use lower case letters, digits and -, at most 63';
    throw new CommandError(`"${factory}" cannot name a factory; ${rule}`, exitStatus.usage);
  }
  return { directory, factory, output: options.output, workspace };
}

/** The factory of the context, as operations need it. */
export function openFactory({ store, factory }: Pick<Context, 'store' | 'factory'>): OpenFactory {
  return {
    ...{ name: factory, store, randomBytes },
    now: () => new Date(),
    readState: () => store.appliedStates.read(factory),
    useDeliveryLog: async work => {
      const log = await store.openDeliveryLog();
      try {
        return await work(log);
      } finally {
        await log.close();
      }
    },
  };
}

function workspaceOf(directory: string): Workspace {
  const { file, definition, diagnostics, text } = readWorkspace(directory);
  if (definition) return definition;
  process.stderr.write(renderDiagnostics(diagnostics, new Map([[file, text]])));
  throw new CommandError('');
}
