import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { chooseAuditedFactory, nameActor, recordChange } from '../../../operations/access/audit.ts';
import { findSession, listSessions, type OwnedSession } from '../../../operations/access/sessions.ts';
import { listOpenAlerts } from '../../../operations/attention/alerts.ts';
import { type FactoryView, factoryView } from '../../../operations/views/applied-views.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { findPermission, type Grant, listGranted } from '../../../schema/grant.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { identityAnswer, signedInAnswer } from '../../../schema/views/access.ts';
import type { StoredPerson } from '../../../store/ports/stored-sessions.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import { type Caller, type KnownCallers, toCaller, toPerson } from '../guards/caller.ts';
import {
  type PrivateCookie,
  personSessionMs,
  type SessionCookie,
  type Sessions,
  tokenSessionMs,
} from '../guards/sessions.ts';
import type { SignIn } from '../sign-in/open-sign-in.ts';
import type { ApiDeps, PortHandlers } from './handler.ts';

type SessionHandlers = Pick<
  PortHandlers,
  'signIn' | 'whoAmI' | 'signOut' | 'listSessions' | 'endSession' | 'listFactories' | 'listOpenAlerts'
>;

/** Handles requests that do not belong to one factory. */
export function createSessionHandlers(deps: ApiDeps): SessionHandlers {
  const { callers, cookie, signInAttempts, served, readClientAddress } = deps;
  const { tokens, sessions } = callers;
  const listVisible = async (caller: Caller) => {
    const listed = await listSessions(deps.store, deps.nowMs());
    return listed.filter(session => isOwn(session, caller) || mayEnd(caller, session, callers));
  };
  return {
    signIn: async ({ body, context }) => {
      const address = readClientAddress(context.req);
      signInAttempts.begin(address);
      const token = await tokens.require(body.token);
      signInAttempts.succeed(address);
      return beginSession(deps, context, toCaller(token, 'session'), undefined);
    },
    whoAmI: ({ caller }) => ({ body: toIdentity(caller) }),
    signOut: async ({ context }) => {
      const session = cookie.read(context);
      if (session) await sessions.end(session);
      cookie.clear(context);
      return { body: undefined };
    },
    listSessions: async ({ caller, context }) => {
      const presented = cookie.read(context);
      const current = presented && sessions.identify(presented);
      const visible = await listVisible(caller);
      return { body: { sessions: visible.map(({ view }) => ({ ...view, current: view.id === current })) } };
    },
    endSession: async ({ params, caller, context }) => {
      const session = findSession(await listVisible(caller), params.session);
      const { view, stored } = session;
      const end = () => deps.store.sessions.remove(stored.digest);
      if (isOwn(session, caller)) await end();
      else {
        const subject = `${view.id} of ${nameActor(view)}`;
        const who = { kind: caller.kind, name: nameActor(caller) };
        const from = readClientAddress(context.req);
        const recorder = { store: deps.store, now: () => new Date(deps.nowMs()) };
        const concerned = listGrantsOf(session, callers).map(({ factory }) => factory);
        const factory = chooseAuditedFactory(caller.grants, concerned);
        await recordChange(recorder, { who, operation: 'endSession', factory, subject, from }, end);
      }
      return { body: undefined };
    },
    listOpenAlerts: async ({ caller }) => {
      const factories = listGranted(caller.grants);
      const trouble = deps.deliveryLog.describeTrouble() ?? null;
      // The reason may name any factory.
      const logTrouble = trouble && factories ? 'the delivery log cannot be written' : trouble;
      return { body: { alerts: await listOpenAlerts(deps.store, factories), logTrouble } };
    },
    listFactories: ({ caller }) => {
      const states = served.status().map(({ factory }) => factory);
      const granted = caller.grants.map(({ factory }) => factory ?? 'default');
      const known = [...new Set([...states, ...granted])].sort();
      const visible = known.filter(factory => findPermission(caller.grants, factory) !== undefined);
      return { body: { factories: visible.map(factory => viewFactory(served, factory)) } };
    },
  };
}

function isOwn({ stored }: OwnedSession, { sha256 }: Caller): boolean {
  return stored.ownerSha256 === sha256;
}

/** Whether the caller may manage each factory that the session's owner may see. */
function mayEnd(caller: Caller, session: OwnedSession, callers: Pick<KnownCallers, 'findGrants'>): boolean {
  const grants = listGrantsOf(session, callers);
  return (
    grants.length > 0 && grants.every(({ factory }) => findPermission(caller.grants, factory) === 'manage')
  );
}

function listGrantsOf(
  { stored: { person }, token }: OwnedSession,
  { findGrants }: Pick<KnownCallers, 'findGrants'>,
): readonly Grant[] {
  return person ? findGrants(person) : token ? [token] : [];
}

/** Shows a factory as it is served; an empty one if it has no applied state. Fails with `state-unreadable`. */
function viewFactory(served: ServedFactories, factory: string): FactoryView {
  const view = served.findView(factory);
  if (view) return view;
  if (!served.status().some(status => status.factory === factory)) {
    return factoryView(emptyAppliedState(factory));
  }
  throw new Refusal('state-unreadable', {
    detail: `the applied state of the factory ${factory} cannot be read`,
  });
}

/** @limit Time in which a person must sign in at the provider, in ms: long enough for a password and a second factor. */
const signInMs = 10 * 60 * 1000;
/** @limit Randomness of each secret that ties a sign-in to its page, in bytes: 256 bits cannot be guessed. */
const attemptRandomBytes = 32;

/**
 * Handles the sign-in of people. The browser leaves for the provider with a secret in a cookie, and a key that only the
 * dashboard's page has. When it comes back, the page finishes the sign-in, and only with both. So no other site can cause a
 * sign-in, nor another port of the host, which can set the cookie.
 */
export function createSignInHandlers(
  deps: ApiDeps,
  signIn: SignIn | undefined,
  cookie: PrivateCookie,
): Pick<PortHandlers, 'showSignIn' | 'beginSignIn' | 'finishSignIn'> {
  const { signInAttempts, readClientAddress, randomBytes, log } = deps;
  const makeSecret = () => Buffer.from(randomBytes(attemptRandomBytes)).toString('base64url');
  const combine = (secret: string, key: string) => `${secret} ${key}`;
  const logged = (context: Context) => (err: unknown) => {
    log.warn({ err, from: readClientAddress(context.req) }, 'a sign-in was refused');
    throw err;
  };
  return {
    showSignIn: ({ context }) => ({
      body: { provider: signIn && context.headers.host === signIn.host ? { label: signIn.label } : null },
    }),
    beginSignIn: async ({ context }) => {
      const { begin } = requireSignIn(signIn, context);
      const [secret, attemptKey] = [makeSecret(), makeSecret()];
      const { href: url } = await begin(combine(secret, attemptKey)).catch(logged(context));
      cookie.write(context, secret, signInMs);
      return { body: { url, attemptKey } };
    },
    finishSignIn: async ({ body, context }) => {
      const { finish, findGrants } = requireSignIn(signIn, context);
      const secret = cookie.read(context);
      cookie.clear(context);
      if (!secret || body.attemptKey === '') throw new ApiProblem('sign-in-refused');
      const address = readClientAddress(context.req);
      signInAttempts.begin(address);
      const person = await finish(combine(secret, body.attemptKey), body.query).catch(logged(context));
      signInAttempts.succeed(address);
      const sha256 = hash('sha256', JSON.stringify([person.issuer, person.subject]));
      return beginSession(deps, context, toPerson(person, sha256, findGrants(person)), person);
    },
  };
}

/** Fails unless people are at the host to which the provider sends them back. */
function requireSignIn(signIn: SignIn | undefined, { headers }: Context): SignIn {
  if (!signIn) throw new ApiProblem('not-found');
  if (headers.host === signIn.host) return signIn;
  const detail = `sign in at ${signIn.host}: open the dashboard there`;
  throw new ApiProblem('sign-in-refused', { detail });
}

interface SessionDeps {
  readonly callers: { readonly sessions: Sessions };
  readonly cookie: SessionCookie;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly log: Logger;
}

/** Begins a session of the dashboard, in place of one that the browser may have. `person` has signed in at a provider. */
async function beginSession(
  { callers, cookie, log, readClientAddress }: SessionDeps,
  context: Context,
  caller: Caller,
  person: StoredPerson | undefined,
): Promise<{ readonly body: z.output<typeof signedInAnswer> }> {
  const lifetimeMs = person ? personSessionMs : tokenSessionMs;
  const from = readClientAddress(context.req);
  const session = { ownerSha256: caller.sha256, person, host: context.headers.host ?? '', from };
  const before = cookie.read(context);
  if (before) await callers.sessions.end(before);
  const { id, key } = await callers.sessions.begin(session, lifetimeMs);
  cookie.write(context, id, lifetimeMs);
  const { kind, name, subject } = caller;
  log.info({ [kind]: name, subject, from }, 'signed in');
  return { body: { ...toIdentity(caller), sessionKey: key } };
}

function toIdentity({ kind, name, grants }: Caller): z.output<typeof identityAnswer> {
  return { kind, name, grants: [...grants] };
}
