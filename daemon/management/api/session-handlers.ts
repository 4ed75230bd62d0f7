import { nameActor, recordChange } from '../../../operations/access/audit.ts';
import { findSession, listSessions, type OwnedSession } from '../../../operations/access/sessions.ts';
import { listOpenAlerts } from '../../../operations/alerts/alerts.ts';
import { type FactoryView, factoryView } from '../../../operations/views/applied-views.ts';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { findPermission, listGranted } from '../../../schema/grant.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import { type Caller, type KnownCallers, toCaller } from '../guards/caller.ts';
import { beginSession, toIdentity } from './begin-session.ts';
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
        await recordChange(recorder, { who, operation: 'endSession', factory: null, subject, from }, end);
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
function mayEnd(
  caller: Caller,
  { stored: { person }, token }: OwnedSession,
  { findGrants }: Pick<KnownCallers, 'findGrants'>,
): boolean {
  const grants = person ? findGrants(person) : token ? [token] : [];
  return (
    grants.length > 0 && grants.every(({ factory }) => findPermission(caller.grants, factory) === 'manage')
  );
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
