import { type FactoryView, factoryView } from '../../../operations/views/applied-views.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { findPermission } from '../../../schema/grant.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import { toCaller } from '../guards/caller.ts';
import type { ApiDeps } from './api-deps.ts';
import { beginSession, toIdentity } from './begin-session.ts';
import type { PortHandlers } from './handler.ts';

type SessionHandlers = Pick<PortHandlers, 'signIn' | 'whoAmI' | 'signOut' | 'listFactories'>;

/** Handles requests that do not belong to one factory. */
export function createSessionHandlers(deps: ApiDeps): SessionHandlers {
  const { callers, cookie, signInAttempts, served, readClientAddress } = deps;
  const { tokens, sessions } = callers;
  return {
    signIn: async ({ body, context }) => {
      const address = readClientAddress(context.req);
      signInAttempts.begin(address);
      const token = await tokens.find(body.token);
      if (!token) throw new ApiProblem('token-unknown');
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
    listFactories: ({ caller }) => {
      const states = served.status().map(({ factory }) => factory);
      const granted = caller.grants.map(({ factory }) => factory ?? 'default');
      const known = [...new Set([...states, ...granted])].sort();
      const visible = known.filter(factory => findPermission(caller.grants, factory) !== undefined);
      return { body: { factories: visible.map(factory => viewFactory(served, factory)) } };
    },
  };
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
