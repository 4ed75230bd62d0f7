import { applyDefinitions } from '../../operations/applied/apply.ts';
import { explainWhy } from '../../operations/why/why.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import type { Home } from '../../store/home/home.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { makeFactory, newHome } from './factory.ts';
import { send } from './http.ts';
import { readStore } from './stored.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** A webhook with authMode oidc, of a daemon in the test's own process. */
export interface OidcWebhook {
  readonly daemon: DaemonHere;
  readonly home: Home;
  readonly url: string;
  /** Posts with this token, or these headers. */
  post(token: string | Record<string, string | string[]>): ReturnType<typeof send>;
  /** Reads why the last delivery was rejected, as the log has it. */
  lastReason(): Promise<string>;
  apply(changed: object): Promise<void>;
  /** Explains it as `hookmill why` does: the steps, and all their texts. */
  why(): Promise<readonly [steps: readonly object[], text: string]>;
}

const many = 1_000_000;
const noLimits = { deliveriesPerMinute: many, failedAuthPerMinute: many, failedAuthPerMinuteTotal: many };

/** Starts a daemon that serves one webhook for tokens of the issuer, without limits unless settings give some. */
export async function serveOidcWebhook(
  issuer: Pick<TokenIssuer, 'issuer' | 'settings'>,
  settings: object = {},
  home = newHome(),
): Promise<OidcWebhook> {
  const factory = makeFactory(home);
  const apply = async (changed: object) => {
    const definition = {
      ...{ authMode: 'oidc', issuer: issuer.issuer, claims: { repository: ['acme/shop'] } },
      ...changed,
    };
    const bytes = Buffer.from(JSON.stringify(definition));
    const files = [{ kind: 'webhook', name: 'hook', file: 'webhooks/hook.yaml', bytes }] as const;
    const definitions = parseDefinitions({ files, diagnostics: [] });
    const source = { kind: 'directory', directory: home.directory } as const;
    const applied = await applyDefinitions(factory, definitions, source, async () => true);
    if (applied.result === 'invalid') throw new Error(JSON.stringify(applied.diagnostics));
  };
  await apply({});
  const { webhooks } = await factory.store.appliedStates.read('default');
  const daemon = await startDaemonHere({ limits: noLimits, ...issuer.settings, ...settings }, home);
  const url = `${daemon.ingressUrl}/webhooks/w/${webhooks[0]?.uid}`;
  return {
    ...{ daemon, home, url, apply },
    why: async () => {
      const asked = { permission: 'manage', daemonProblem: null, baseUrl: daemon.ingressUrl } as const;
      const { steps } = await explainWhy(factory, 'hook', asked);
      return [steps, JSON.stringify(steps)];
    },
    post: token => {
      daemon.clock.nowMs = Date.now();
      const headers = typeof token === 'string' ? { authorization: `Bearer ${token}` } : token;
      return send(url, { headers, body: '{"event":"built"}' });
    },
    lastReason: async () => {
      const rows = await readStore(home, ({ deliveries }) =>
        deliveries.listDeliveries({ factory: 'default', limit: 1 }),
      );
      return rows[0]?.reason ?? '';
    },
  };
}
