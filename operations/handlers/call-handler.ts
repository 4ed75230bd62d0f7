import type { CallableId } from '../../schema/api/routes.ts';
import type { Handler, Handlers, OperationDeps, OperationReply, OperationRequest } from './handler.ts';

/** Handles a request of any transport. Loads the code of its operation when it is first needed. */
export async function callHandler(
  id: CallableId,
  deps: OperationDeps,
  request: OperationRequest<CallableId>,
): Promise<OperationReply<unknown>> {
  const { [id]: handle } = (await rooms[id]()) as Handlers;
  // The types of `rooms` ensure that each handler takes the shapes of its route, which the transport has checked.
  return (handle as Handler<CallableId>)(deps, request);
}

const applied = async () => (await import('./applied.ts')).appliedHandlers;
const definitions = async () => (await import('./definitions.ts')).definitionHandlers;
const judging = async () => (await import('./judging.ts')).judgingHandlers;
const lists = async () => (await import('./lists.ts')).listHandlers;
const senders = async () => (await import('./senders.ts')).senderHandlers;
const log = async () => (await import('./log.ts')).logHandlers;

/** Where each operation's handler is. An operation without one does not compile. */
const rooms: { readonly [Id in CallableId]: () => Promise<Pick<Handlers, Id>> } = {
  showStatus: applied,
  requestReconcile: applied,
  suspendReconcile: applied,
  resumeReconcile: applied,
  listSecrets: applied,
  listWebhooks: applied,
  createWebhook: applied,
  showWebhook: applied,
  changeWebhook: applied,
  changeWebhookSecret: applied,
  beginSecretRotation: applied,
  endSecretRotation: applied,
  deleteWebhook: applied,
  listAutomations: applied,
  listRunners: applied,
  createAutomation: applied,
  showAutomation: applied,
  replaceAutomation: applied,
  deleteAutomation: applied,

  exportDefinitions: definitions,
  plan: definitions,
  planAutomation: definitions,
  apply: definitions,

  describeApi: judging,
  describePayloads: judging,
  explainWhy: judging,
  showDelivery: judging,
  replayDelivery: judging,
  runByHand: judging,
  testFilter: judging,
  testOnStored: judging,

  showHealth: lists,
  showHealthOverview: lists,
  listDeliveries: lists,
  listUnlogged: lists,
  listRuns: lists,
  showRun: lists,
  showRunTallies: lists,
  listAlerts: lists,
  acknowledgeAlert: lists,
  muteAlert: lists,
  listTokens: lists,
  createToken: lists,
  revokeToken: lists,
  listAudit: lists,
  listSchemes: lists,

  listSenders: senders,
  checkSender: senders,
  sendTest: senders,
  planSender: senders,
  registerSender: senders,
  listMissed: senders,
  redeliverMissed: senders,

  downloadPayload: log,
  showRunOutput: log,
  downloadArtifact: log,
  retryRun: log,
  dismissRun: log,
  cancelRun: log,
  approveRun: log,
  runAgain: judging,
  listPauses: log,
  pauseAutomation: log,
  resumeAutomation: log,
};
