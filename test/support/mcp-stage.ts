import { join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { Readiness } from './daemon.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { eventually } from './eventually.ts';
import { read } from './http.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

const bin = join(import.meta.dirname, '../../cli/bin.js');

/** A daemon with the factory `default`, which is defined in a workspace, and what agents see of it. */
export interface McpStage {
  readonly workspace: Workspace;
  readonly daemon: DaemonHere;
  /** Creates a team secret. */
  setSecret(name: string, value: string): Promise<void>;
  /** Applies the workspace, and waits until the daemon serves it. Returns the URL of each webhook by its name. */
  apply(): Promise<Record<string, string>>;
  /** The environment in which a command works on the server, with a token that may read the factory. */
  environment(): Promise<Readonly<Record<string, string>>>;
}

/** Opens a stage on a home. The caller stops the daemon. */
export async function openMcpStage(settings: object): Promise<McpStage> {
  const workspace = makeWorkspace();
  const clock = {
    get nowMs() {
      return Date.now();
    },
    monotonicMs: 0,
  };
  const daemon = await startDaemonHere(settings, homeAt(workspace.home), undefined, clock);
  const run = async (words: readonly string[], stdin = '') => {
    const result = await workspace.hookmill(...words, { stdin });
    if (result.exitCode !== 0) throw new Error(`${words.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  const { ingressUrl, managementUrl } = daemon;
  return {
    ...{ workspace, daemon },
    setSecret: async (name, value) => void (await run(['secrets', 'set', name], value)),
    apply: async () => {
      await run(['apply', '--yes']);
      const { serial } = JSON.parse(await run(['status', '-o', 'json']));
      await eventually(async () => {
        const { factories }: Readiness = JSON.parse(await read(`${managementUrl}/readyz`));
        return factories.some(served => served.serial === serial);
      });
      const webhooks: { name: string; url: string }[] = JSON.parse(
        await run(['webhooks', 'list', '-o', 'json']),
      );
      return Object.fromEntries(webhooks.map(({ name, url }) => [name, ingressUrl + new URL(url).pathname]));
    },
    environment: async (): Promise<Record<string, string>> => {
      const name = `agent-${Math.random().toString(36).slice(2)}`;
      const token = await run(['tokens', 'create', name, '--permission', 'read', '--factory', 'default']);
      return { HOOKMILL_SERVER: managementUrl, HOOKMILL_TOKEN: token.trim() };
    },
  };
}

/** A client of `hookmill mcp`, which runs in a process of its own. */
export interface McpSession {
  readonly client: Client;
  /** Calls a tool, and returns its answer as text and whether that is an error. */
  call(tool: string, given?: object): Promise<{ readonly text: string; readonly isError: boolean }>;
  /** Calls a tool, and parses its answer. Fails with the text if it is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: what an answer has is what the tests are about
  ask(tool: string, given?: object): Promise<any>;
  end(): Promise<void>;
}

/** Starts `hookmill mcp` in the workspace, and ends it with the test at the latest. */
export async function openMcpSession(
  workspace: Pick<Workspace, 'directory'>,
  env: Readonly<Record<string, string>>,
  options: ClientOptions = {},
): Promise<McpSession> {
  const session = await startMcpSession(workspace, env, options);
  onTestFinished(() => session.end());
  return session;
}

/** Starts `hookmill mcp` in the workspace. The caller ends it. */
export async function startMcpSession(
  { directory }: Pick<Workspace, 'directory'>,
  env: Readonly<Record<string, string>>,
  options: ClientOptions = {},
): Promise<McpSession> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp'],
    env: { PATH, NODE_COMPILE_CACHE, HOME: directory, NO_COLOR: '1', ...env },
    cwd: directory,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '0.0.0' }, options);
  await client.connect(transport);
  const call: McpSession['call'] = async (name, given = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: { ...given } });
    const [block, ...others] = content;
    if (block?.type !== 'text' || others.length > 0) throw new Error(`${name} answers no text`);
    return { text: block.text, isError };
  };
  const ask: McpSession['ask'] = async (tool, given) => {
    const answer = await call(tool, given);
    if (answer.isError) throw new Error(answer.text);
    return JSON.parse(answer.text);
  };
  return { client, call, ask, end: () => client.close() };
}
