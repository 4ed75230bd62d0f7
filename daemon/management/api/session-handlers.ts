import { type FactoryView, factoryView } from '../../../operations/views/applied-views.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { emptyAppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import { schemes } from '../../../signatures/schemes.ts';
import { isStandardWebhooks } from '../../../signatures/standard-webhooks.ts';
import { summariseScheme } from '../../../signatures/summary.ts';
import type { ApiToken } from '../../../store/api-tokens.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import { maySee } from '../guards/caller.ts';
import type { ApiDeps } from './api-deps.ts';
import type { PortHandlers } from './handler.ts';

type SessionHandlers = Pick<PortHandlers, 'signIn' | 'whoAmI' | 'signOut' | 'listFactories' | 'listSchemes'>;

/** Handles requests that do not belong to one factory. */
export function createSessionHandlers(deps: ApiDeps): SessionHandlers {
  const { tokens, sessions, cookie, signInAttempts, served, readClientAddress } = deps;
  return {
    signIn: async ({ body, context }) => {
      const address = readClientAddress(context.req);
      signInAttempts.begin(address);
      const token = await tokens.find(body.token);
      if (!token) throw new ApiProblem('token-unknown');
      signInAttempts.succeed(address);
      const { id, key } = await sessions.begin(token.sha256, context.headers.host ?? '');
      cookie.write(context, id);
      return { body: { ...toIdentity(token), sessionKey: key } };
    },
    whoAmI: ({ caller }) => ({ body: toIdentity(caller.token) }),
    signOut: async ({ context }) => {
      const session = cookie.read(context);
      if (session) await sessions.end(session);
      cookie.clear(context);
      return { body: undefined };
    },
    listFactories: ({ caller: { token } }) => {
      const states = served.status().map(({ factory }) => factory);
      const known = new Set([...states, token.factory ?? 'default']);
      const visible = [...known].filter(factory => maySee(token, factory)).sort();
      return { body: { factories: visible.map(factory => viewFactory(served, factory)) } };
    },
    listSchemes: () => ({ body: { schemes: describedSchemes } }),
  };
}

function toIdentity({ name, factory, permission }: ApiToken) {
  return { token: name, factory, permission };
}

const describedSchemes = schemes.map(scheme => {
  const { id, provider, kind, page, secretLocation, secretCommand, checked } = scheme;
  const blankSecret: 'generated' | 'declared' = isStandardWebhooks(scheme) ? 'generated' : 'declared';
  const summary = summariseScheme(scheme);
  return { id, provider, kind, page, secretLocation, secretCommand, blankSecret, checked, summary };
});

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
