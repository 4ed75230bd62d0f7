import { randomBytes } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { createToken } from '../../operations/access/tokens.ts';
import { renderOpenApi } from '../../schema/api/openapi.ts';
import { type ApiRoute, apiPrefix } from '../../schema/api/route.ts';
import { apiRoutes, apiShapes, type OperationId } from '../../schema/api/routes.ts';
import type { Permission } from '../../schema/grant.ts';
import type { StoreOptions } from '../../store/ports/store.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { newHome } from './factory.ts';
import { send } from './http.ts';

/** A daemon in the test's process, and clients of its management API. Every answer must match the OpenAPI document. */
export interface ManagedDaemon extends DaemonHere {
  /** Makes a client with a new token. By default, it may manage the factory `default`. */
  client(given?: {
    factory?: string | null;
    permission?: Permission;
    expiresAt?: string | null;
  }): Promise<ApiClient>;
  revoke(client: ApiClient): Promise<void>;
}

export interface ApiClient {
  readonly tokenName: string;
  readonly token: string;
  call(id: OperationId, given?: CallGiven): Promise<ApiAnswer>;
}

export interface CallGiven {
  /** Parameters of the path; `factory` is the client's unless given. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer has is what the tests are about
  readonly json: any;
}

/** Starts a daemon, and stops it when the test ends. */
export async function startManagedDaemon(settings: object = {}, home = newHome()): Promise<ManagedDaemon> {
  const daemon = await openManagedDaemon(settings, home);
  onTestFinished(() => daemon.stop());
  return daemon;
}

export async function openManagedDaemon(
  settings: object = {},
  home = newHome(),
  given?: Pick<StoreOptions, 'environment' | 'postgres'>,
): Promise<ManagedDaemon> {
  const daemon = await startDaemonHere(settings, home, given);
  const { managementUrl, store } = daemon;
  const client: ManagedDaemon['client'] = async ({
    factory = 'default',
    permission = 'manage',
    expiresAt = null,
  } = {}) => {
    const name = `token-${randomBytes(6).toString('hex')}`;
    const token = await createToken({ store, randomBytes }, { name, factory, permission, expiresAt });
    const headers = { authorization: `Bearer ${token}` };
    return {
      tokenName: name,
      token,
      call: (id, given = {}) =>
        call(managementUrl, id, {
          ...given,
          params: { factory: factory ?? 'default', ...given.params },
          headers: { ...headers, ...given.headers },
        }),
    };
  };
  const revoke = async ({ tokenName }: ApiClient) => {
    const found = (await store.apiTokens.list()).find(({ name }) => name === tokenName);
    await store.apiTokens.revoke(found?.sha256 ?? '');
  };
  return { ...daemon, client, revoke };
}

/** Starts a daemon for all tests of a file, which work on a factory each. Returns a function that gives the daemon. */
export function useManagedDaemon(settings: object = {}): () => ManagedDaemon {
  let daemon: ManagedDaemon;
  beforeAll(async () => {
    daemon = await openManagedDaemon(settings);
  });
  afterAll(() => daemon.stop());
  return () => daemon;
}

/** A daemon whose clients work on one of its factories, unless told otherwise. */
export interface FactoryDaemon extends ManagedDaemon {
  readonly factory: string;
}

let factories = 0;

/** Gives a test a factory of its own in a shared daemon. */
export function withNewFactory(daemon: ManagedDaemon): FactoryDaemon {
  const factory = `factory-${++factories}`;
  return { ...daemon, factory, client: given => daemon.client({ factory, ...given }) };
}

/** Makes a client of a new factory, and the environments in which a command works on that. */
export async function openFactory(daemon: ManagedDaemon, given: { permission?: Permission } = {}) {
  const { factory: HOOKMILL_FACTORY, client } = withNewFactory(daemon);
  const { token, call } = await client(given);
  return {
    call,
    env: {
      home: { HOOKMILL_FACTORY, HOOKMILL_HOME: daemon.home.directory },
      server: { HOOKMILL_FACTORY, HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token },
    },
  };
}

/** Begins a session of the dashboard with a client's token. Returns the headers that present it. */
export async function signIn({ managementUrl }: DaemonHere, { token }: ApiClient) {
  const { headers, json } = await call(managementUrl, 'signIn', { body: { token } });
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  return { cookie, 'x-hookmill-session': String(json.sessionKey) };
}

/** Sends one request to an operation, with nothing more than what is given. */
export async function call(
  managementUrl: string,
  id: OperationId,
  given: CallGiven = {},
): Promise<ApiAnswer> {
  const route: ApiRoute = apiRoutes[id];
  const { params = {}, query = {}, body = route.body ? {} : undefined, headers = {} } = given;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? (name === 'factory' ? 'default' : 'none')),
  );
  const search = new URLSearchParams(query).toString();
  const answer = await send(`${managementUrl}${apiPrefix}${path}${search && `?${search}`}`, {
    method: route.method.toUpperCase(),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? '' : JSON.stringify(body),
  });
  requireDocumented(id, answer.status, answer.headers['content-type'], answer.body);
  const isJson = answer.headers['content-type']?.includes('json');
  return { ...answer, text: answer.body, json: isJson ? JSON.parse(answer.body) : undefined };
}

const document = JSON.parse(JSON.stringify(renderOpenApi(apiRoutes, apiShapes)));
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'api');

/** Requires that the document describes the answer for this operation: its status, media type and shape. */
function requireDocumented(
  id: OperationId,
  status: number,
  mediaType: string | undefined,
  body: string,
): void {
  const { method, path } = apiRoutes[id];
  const response = document.paths[path][method].responses[status];
  expect(response, `${id} answers ${status}: ${body}`).toBeDefined();
  const types = Object.keys(response.content ?? {});
  if (types.length === 0) expect(body).toBe('');
  if (types.length === 0) return;
  const type = types.find(type => mediaType?.startsWith(type));
  expect(type, `${id} answers ${status} with ${mediaType}`).toBeDefined();
  const reference: string | undefined = response.content[type ?? ''].schema?.$ref;
  if (reference === undefined) return;
  const validate = ajv.getSchema(`api${reference}`);
  validate?.(JSON.parse(body));
  expect(validate?.errors ?? [], `${id} answers ${body}`).toEqual([]);
  if (type === 'application/problem+json') {
    expect(response.description.split(', ')).toContain(JSON.parse(body).code);
  }
}
