import { z } from 'zod';
import { runnerKinds } from '../../schema/delivery.ts';
import { compileGlob } from '../../schema/filters/glob.ts';
import type { SenderState } from '../../schema/sender.ts';

const offeredRunnerShape = z.strictObject({
  name: z.string(),
  kind: z.enum(runnerKinds),
  /** Who may use it: globs of names. */
  factories: z.array(z.string()),
  automations: z.array(z.string()),
  /** The repositories among which an automation chooses. */
  repositories: z.array(z.string()),
  /** The operator's limits of a run: attempts, and the time of an attempt, if there is one. Not before a daemon has started. */
  attempts: z.int().optional(),
  timeLimitSeconds: z.number().optional(),
});

/** A runner, as automations choose it. */
export type OfferedRunner = z.output<typeof offeredRunnerShape>;

export const offeredRunnersShape = z.strictObject({
  formatVersion: z.literal(1),
  runners: z.array(offeredRunnerShape),
});

/** The runners that daemons offer, by which plans and applies check automations, and runs wait. */
export interface OfferedRunners {
  /**
   * Those of all daemons that are alive, or of the last one to start if none is; of several with a name, that of the last
   * one. Only the default runner before a daemon has started.
   */
  read(): Promise<readonly OfferedRunner[]>;
  /** Records what a daemon offers as long as it is alive. `daemonId`: as in a `RunClaim`. */
  record(daemonId: string, runners: readonly OfferedRunner[]): Promise<void>;
}

/** The globs of names that say who may use a runner. */
interface Users {
  readonly factories: readonly string[];
  readonly automations: readonly string[];
}

/** Whether automations of a factory may use a runner. */
export function isOfferedTo({ factories }: Pick<Users, 'factories'>, factory: string): boolean {
  return factories.some(glob => compileGlob(glob)(factory));
}

/** Whether an automation of a factory may use a runner. */
export function maySelect(
  runner: Users,
  { factory, automation }: { readonly factory: string; readonly automation: string },
): boolean {
  return isOfferedTo(runner, factory) && runner.automations.some(glob => compileGlob(glob)(automation));
}

/** A public key of an issuer (RFC 7517), without what only private keys have. Other members are dropped. */
const issuerKeyShape = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});

export type IssuerKey = z.output<typeof issuerKeyShape>;

/** Picks the public keys of a key set that could verify tokens: other kinds may stand beside them (RFC 7517, section 5). */
export function pickIssuerKeys(keys: readonly unknown[]): IssuerKey[] {
  return keys.flatMap(key => {
    const parsed = issuerKeyShape.safeParse(key);
    return parsed.success ? [parsed.data] : [];
  });
}

const issuerShape = z.strictObject({
  issuer: z.string(),
  /** The keys that were fetched last; none if they never were. */
  keys: z.array(issuerKeyShape),
  /** The failure of the last attempts; null if the last one succeeded. */
  failure: z.strictObject({ since: z.string(), reason: z.string() }).nullable(),
});

export type StoredIssuer = z.output<typeof issuerShape>;

export const issuerKeysShape = z.strictObject({ formatVersion: z.literal(1), issuers: z.array(issuerShape) });

/** The keys of the issuers of OpenID Connect tokens, as they were fetched last. */
export type IssuerKeysState = z.output<typeof issuerKeysShape>;

/** Keeps the keys, so that a daemon that is restarted can verify tokens while an issuer is down. */
export interface StoredIssuerKeys {
  read(): Promise<IssuerKeysState>;
  /** Replaces what is kept of one issuer. Of those that nobody needs, only the newest are kept. Fails with `locked`. */
  keep(kept: StoredIssuer, isNeeded: (issuer: string) => boolean): Promise<void>;
}

/** Returns the same object to leave the state as it is. */
type ChangeSenderState = (state: SenderState) => SenderState;

/** The last answers of the providers of each factory's webhooks, and the requests to send events again. */
export interface SenderStates {
  /** The states of the webhooks whose providers were asked. */
  read(factory: string): Promise<readonly SenderState[]>;
  /** Keeps what was learned about one webhook, under the factory's lock, and returns its state. Fails with `locked`. */
  learn(factory: string, uid: string, change: ChangeSenderState): Promise<SenderState>;
  /** Does the same before something is changed at a provider: for a person, that is in the audit log. */
  act(factory: string, uid: string, change: ChangeSenderState): Promise<SenderState>;
}
