import { type CallableId, routesBySubject } from '../../schema/api/routes.ts';
import type { QueueableRuns } from '../factory.ts';
import type {
  CallableSubject,
  Handler,
  HandlerDeps,
  HandlersOf,
  OperationDeps,
  OperationReply,
  OperationRequest,
} from './handler.ts';

/** Handles a request of any transport. Loads the code of its subject when it is first needed. */
export async function callHandler(
  id: CallableId,
  deps: OperationDeps,
  request: OperationRequest<CallableId>,
): Promise<OperationReply<unknown>> {
  const subjects = Object.keys(rooms) as CallableSubject[];
  const subject = subjects.find(one => id in routesBySubject[one]) as CallableSubject;
  const handlers: object = await rooms[subject]();
  // Each handler takes the shapes of its route, which the transport has checked.
  return (handlers as { readonly [Id in CallableId]: Handler<CallableId> })[id](
    openFactory(deps, request.params),
    request,
  );
}

/** Adds the factory in the path; requests for no factory have one without a name. */
function openFactory(
  deps: OperationDeps,
  { factory: name = '' }: { readonly factory?: string },
): HandlerDeps {
  const { store, deliveryLog, randomBytes, now, readState } = deps;
  const factory = {
    ...{ name, store, randomBytes, now },
    readState: () => readState(name),
    useDeliveryLog: <T>(work: (log: QueueableRuns) => Promise<T>) => work(deliveryLog),
  };
  return { ...deps, factory };
}

/** The handlers of each subject. An operation without one does not compile. */
const rooms: { readonly [Subject in CallableSubject]: () => Promise<HandlersOf<Subject>> } = {
  reference: async () => (await import('./reference.ts')).referenceHandlers,
  factories: async () => (await import('./factories.ts')).factoryHandlers,
  definitions: async () => (await import('./definitions.ts')).definitionHandlers,
  webhooks: async () => (await import('./webhooks.ts')).webhookHandlers,
  senders: async () => (await import('./senders.ts')).senderHandlers,
  automations: async () => (await import('./automations.ts')).automationHandlers,
  deliveries: async () => (await import('./deliveries.ts')).deliveryHandlers,
  runs: async () => (await import('./runs.ts')).runHandlers,
  health: async () => (await import('./health.ts')).healthHandlers,
  alerts: async () => (await import('./alerts.ts')).alertHandlers,
  access: async () => (await import('./access.ts')).accessHandlers,
};
