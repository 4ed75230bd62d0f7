import * as answers from './answers.ts';
import * as problems from './problem-answer.ts';
import { diagnosticShape } from './problem-answer.ts';
import { tokenProblems } from './problems.ts';
import * as requests from './requests.ts';
import type { ApiRoute } from './route.ts';
import * as shown from './shown-definitions.ts';

/** @limit Largest body of a sign-in, in bytes: it holds only a token. */
const apiSessionBytesMax = 4096;
/** @limit Largest body of a filter test, in bytes (1 MiB): it may hold a whole payload beside the draft. */
const apiTestBytesMax = 1024 * 1024;
/** @limit Largest body of a plan or an apply, in bytes (8 MiB): it holds every definition file of a factory. */
export const apiDefinitionsBytesMax = 8 * 1024 * 1024;

const factory = '/factories/{factory}';

const managed = ['managed-in-files', 'managed-in-repository', 'serial-moved', 'locked'] as const;
const reading = ['log-busy'] as const;

/** Every route of the management API by its operation id, with its permission, shapes and documentation. */
export const apiRoutes = {
  describeApi: {
    method: 'get',
    path: '/openapi.json',
    permission: 'public',
    thread: 'operations',
    summary: 'Returns this document.',
    answer: { status: 200, mediaType: 'application/json' },
  },
  signIn: {
    method: 'post',
    path: '/session',
    permission: 'public',
    thread: 'port',
    summary: 'Starts a dashboard session. Its cookie and its key together replace the API token.',
    body: requests.sessionRequest,
    bodyBytesMax: apiSessionBytesMax,
    answer: { status: 200, shape: answers.signedInAnswer },
    problems: [...tokenProblems, 'too-many-attempts'],
  },
  showSignIn: {
    method: 'get',
    path: '/sign-in',
    permission: 'public',
    thread: 'port',
    summary: 'Shows whether people can sign in at an OpenID Connect provider.',
    answer: { status: 200, shape: answers.signInAnswer },
  },
  beginSignIn: {
    method: 'post',
    path: '/sign-in',
    permission: 'public',
    thread: 'port',
    summary:
      'Begins the sign-in of a person at the OpenID Connect provider. Sets a cookie for ten minutes. Without it and the key in the answer, the sign-in cannot be finished.',
    body: requests.noRequest,
    answer: { status: 200, shape: answers.signInBegunAnswer },
    problems: ['not-found', 'provider-invalid', 'provider-unreachable', 'sign-in-refused'],
  },
  finishSignIn: {
    method: 'post',
    path: '/sign-in/answer',
    permission: 'public',
    thread: 'port',
    summary:
      'Starts a dashboard session for the person whom the provider has sent back. Their groups decide about their permissions.',
    body: requests.signInAnswerRequest,
    bodyBytesMax: apiSessionBytesMax,
    answer: { status: 200, shape: answers.signedInAnswer },
    problems: [
      'not-found',
      'provider-invalid',
      'provider-unreachable',
      'sign-in-refused',
      'too-many-attempts',
    ],
  },
  whoAmI: {
    method: 'get',
    path: '/session',
    permission: 'signed-in',
    thread: 'port',
    summary: 'Shows who is signed in.',
    answer: { status: 200, shape: answers.identityAnswer },
  },
  signOut: {
    method: 'delete',
    path: '/session',
    permission: 'public',
    thread: 'port',
    summary: 'Ends the session, if there is one.',
    answer: { status: 204 },
  },
  listSessions: {
    method: 'get',
    path: '/sessions',
    permission: 'signed-in',
    thread: 'port',
    summary:
      'Lists the sessions of the caller, and the sessions of everybody whose factories the caller may manage, all of them.',
    answer: { status: 200, shape: answers.sessionsAnswer },
  },
  endSession: {
    method: 'delete',
    path: '/sessions/{session}',
    permission: 'signed-in',
    thread: 'port',
    summary: 'Ends a session that the caller may see.',
    answer: { status: 204 },
    problems: ['session-unknown'],
  },
  listFactories: {
    method: 'get',
    path: '/factories',
    permission: 'signed-in',
    thread: 'port',
    summary: 'Lists the factories that the caller may see.',
    answer: { status: 200, shape: answers.factoriesAnswer },
  },
  showHealthOverview: {
    method: 'get',
    path: '/health',
    permission: 'signed-in',
    thread: 'lists',
    summary:
      'Counts the webhooks of each factory that the caller may see by their health, and lists those that are quiet or failing.',
    answer: { status: 200, shape: answers.healthOverviewAnswer },
    problems: reading,
  },
  listSchemes: {
    method: 'get',
    path: '/schemes',
    permission: 'signed-in',
    thread: 'lists',
    summary: 'Lists the signature schemes, and how to set up each provider.',
    answer: { status: 200, shape: answers.schemesAnswer },
  },
  showStatus: {
    method: 'get',
    path: `${factory}/status`,
    permission: 'read',
    thread: 'operations',
    summary: 'Shows what is applied, where it comes from, and how the last reconciles ended.',
    answer: { status: 200, shape: answers.statusAnswer },
    etag: true,
  },

  listWebhooks: {
    method: 'get',
    path: `${factory}/webhooks`,
    permission: 'read',
    thread: 'operations',
    summary: 'Lists the webhooks.',
    answer: { status: 200, shape: answers.webhooksAnswer },
    etag: true,
  },
  createWebhook: {
    method: 'post',
    path: `${factory}/webhooks`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Creates a webhook. Only this answer contains a generated secret.',
    body: requests.newWebhookRequest,
    answer: { status: 201, shape: answers.changedWebhookAnswer },
    etag: true,
    problems: [
      ...managed,
      'name-taken',
      'too-many-webhooks',
      'secret-taken',
      'secret-missing',
      'secret-shared',
    ],
  },
  showHealth: {
    method: 'get',
    path: `${factory}/health`,
    permission: 'read',
    thread: 'lists',
    summary:
      'Shows the health of each webhook, learned from its own past, and its deliveries of the last seven days by hours.',
    query: requests.healthQuery,
    answer: { status: 200, shape: answers.healthAnswer },
    problems: reading,
  },
  showWebhook: {
    method: 'get',
    path: `${factory}/webhooks/{uid}`,
    permission: 'read',
    thread: 'operations',
    summary: 'Shows one webhook.',
    answer: { status: 200, shape: shown.webhookDetailAnswer },
    etag: true,
    problems: ['webhook-unknown'],
  },
  describePayloads: {
    method: 'get',
    path: `${factory}/webhooks/{uid}/payloads`,
    permission: 'read',
    thread: 'operations',
    summary:
      "Describes the payloads of the webhook's last accepted deliveries: paths, types, and example values that do not look like credentials.",
    answer: { status: 200, shape: answers.payloadsAnswer },
    problems: ['webhook-unknown', ...reading],
  },
  changeWebhook: {
    method: 'patch',
    path: `${factory}/webhooks/{uid}`,
    permission: 'manage',
    thread: 'operations',
    summary:
      'Enables or disables a webhook of any factory, or renames one in a factory that is managed in the dashboard.',
    body: requests.webhookChangeRequest,
    answer: { status: 200, shape: shown.webhookDetailAnswer },
    etag: true,
    problems: [...managed, 'webhook-unknown', 'name-taken'],
  },
  changeWebhookSecret: {
    method: 'post',
    path: `${factory}/webhooks/{uid}/secret`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Rotates the secret, or sets one that has no value yet. The old secret stops working at once.',
    body: requests.webhookSecretRequest,
    answer: { status: 200, shape: answers.changedWebhookAnswer },
    etag: true,
    problems: [...managed, 'webhook-unknown', 'secret-referenced', 'secret-shared'],
  },
  deleteWebhook: {
    method: 'delete',
    path: `${factory}/webhooks/{uid}`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Deletes a webhook. Its URL never comes back. Its automations stay, but no longer start runs.',
    answer: { status: 204 },
    etag: true,
    problems: [...managed, 'webhook-unknown'],
  },

  listAutomations: {
    method: 'get',
    path: `${factory}/automations`,
    permission: 'read',
    thread: 'operations',
    summary: 'Lists the automations.',
    answer: { status: 200, shape: answers.automationsAnswer },
    etag: true,
  },
  createAutomation: {
    method: 'post',
    path: `${factory}/automations`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Creates an automation.',
    body: requests.newAutomationRequest,
    answer: { status: 201, shape: shown.automationDetailAnswer },
    etag: true,
    problems: [...managed, 'name-taken', 'factory-too-large'],
  },
  testFilter: {
    method: 'post',
    path: `${factory}/automation-test`,
    permission: 'read',
    thread: 'operations',
    summary:
      'Tests whether a delivery would trigger an automation or a draft, and shows each clause of the filter.',
    body: requests.testRequest,
    bodyBytesMax: apiTestBytesMax,
    answer: { status: 200, shape: answers.filterTestAnswer },
    problems: ['automation-unknown', 'delivery-unknown', 'payload-not-stored', ...reading],
  },
  runByHand: {
    method: 'post',
    path: `${factory}/automation-run`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Starts a run of an automation or a draft with a payload that no sender sent.',
    body: requests.runByHandRequest,
    bodyBytesMax: apiTestBytesMax,
    answer: { status: 201, shape: answers.runByHandAnswer },
    problems: ['automation-unknown', 'automation-disabled', 'webhook-unknown', ...reading],
  },
  planAutomation: {
    method: 'post',
    path: `${factory}/automation-plan`,
    permission: 'read',
    thread: 'operations',
    summary: 'Shows what creating or replacing an automation would change, and the impact on runs.',
    body: requests.newAutomationRequest,
    answer: { status: 200, shape: answers.plannedAutomationAnswer },
    etag: true,
  },
  showAutomation: {
    method: 'get',
    path: `${factory}/automations/{automation}`,
    permission: 'read',
    thread: 'operations',
    summary: 'Shows one automation.',
    answer: { status: 200, shape: shown.automationDetailAnswer },
    etag: true,
    problems: ['automation-unknown'],
  },
  replaceAutomation: {
    method: 'put',
    path: `${factory}/automations/{automation}`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Replaces an automation.',
    body: requests.automationRequest,
    answer: { status: 200, shape: shown.automationDetailAnswer },
    etag: true,
    problems: [...managed, 'automation-unknown', 'factory-too-large'],
  },
  deleteAutomation: {
    method: 'delete',
    path: `${factory}/automations/{automation}`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Deletes an automation. Its runs stay in the log.',
    answer: { status: 204 },
    etag: true,
    problems: [...managed, 'automation-unknown'],
  },

  listDeliveries: {
    method: 'get',
    path: `${factory}/deliveries`,
    permission: 'read',
    thread: 'lists',
    summary:
      'Lists deliveries in the order in which they were recorded: newest first, or with `after` oldest first, also to follow what is recorded from now on.',
    query: requests.deliveriesQuery,
    answer: { status: 200, shape: answers.deliveriesAnswer },
    problems: ['webhook-unknown', 'automation-unknown', 'cursor-unknown', ...reading],
  },
  listUnlogged: {
    method: 'get',
    path: `${factory}/unlogged-requests`,
    permission: 'read',
    thread: 'lists',
    summary: 'Counts the requests of the last hour that were refused and have no row in the log.',
    query: requests.unloggedQuery,
    answer: { status: 200, shape: answers.unloggedAnswer },
    problems: reading,
  },
  explainWhy: {
    method: 'get',
    path: `${factory}/why/{subject}`,
    permission: 'read',
    thread: 'operations',
    summary:
      'Explains why the last request of a webhook (name or UID), or a delivery, started runs or did not, or what became of a run: each step of its way, and the first one that is wrong.',
    answer: { status: 200, shape: answers.whyAnswer },
    problems: ['webhook-unknown', 'delivery-unknown', 'run-unknown', ...reading],
  },
  watchDeliveries: {
    method: 'get',
    path: `${factory}/live-deliveries`,
    permission: 'read',
    thread: 'port',
    summary:
      'Sends deliveries as they are recorded: Server-Sent Events named `deliveries` with a LiveDeliveries as data. A client that reads too slowly is disconnected, and may connect again.',
    query: requests.liveQuery,
    answer: { status: 200, mediaType: 'text/event-stream' },
    problems: ['webhook-unknown', 'too-many-viewers', ...reading],
  },
  showDelivery: {
    method: 'get',
    path: `${factory}/deliveries/{delivery}`,
    permission: 'read',
    thread: 'operations',
    summary:
      'Shows one delivery: how its webhook and automations judged it, the runs that it started, and its payload.',
    answer: { status: 200, shape: answers.deliveryDetailAnswer },
    problems: ['delivery-unknown', ...reading],
  },
  downloadPayload: {
    method: 'get',
    path: `${factory}/deliveries/{delivery}/payload`,
    permission: 'read',
    thread: 'main',
    summary: 'Downloads the stored body, byte for byte.',
    answer: { status: 200, mediaType: 'application/octet-stream' },
    problems: ['delivery-unknown', 'payload-not-stored', ...reading],
  },
  replayDelivery: {
    method: 'post',
    path: `${factory}/deliveries/{delivery}/replay`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Starts new runs from a stored payload, with the automations that are applied now.',
    body: requests.replayRequest,
    answer: { status: 201, shape: answers.replayedAnswer },
    problems: [
      'delivery-unknown',
      'payload-not-stored',
      'automation-unknown',
      'nothing-to-replay',
      'automation-disabled',
      ...reading,
    ],
  },

  listRuns: {
    method: 'get',
    path: `${factory}/runs`,
    permission: 'read',
    thread: 'lists',
    summary:
      'Lists runs in the order in which they were recorded: newest first, or with `after` oldest first.',
    query: requests.runsQuery,
    answer: { status: 200, shape: answers.runsAnswer },
    problems: ['webhook-unknown', 'automation-unknown', 'delivery-unknown', 'cursor-unknown', ...reading],
  },
  showRun: {
    method: 'get',
    path: `${factory}/runs/{run}`,
    permission: 'read',
    thread: 'lists',
    summary: 'Shows one run.',
    answer: { status: 200, shape: answers.runAnswer },
    problems: ['run-unknown', ...reading],
  },
  showRunOutput: {
    method: 'get',
    path: `${factory}/runs/{run}/output`,
    permission: 'read',
    thread: 'main',
    summary: 'Shows the output of all attempts at a run.',
    query: requests.runOutputQuery,
    answer: { status: 200, mediaType: 'text/plain' },
    problems: ['run-unknown', 'output-not-stored', ...reading],
  },
  downloadArtifact: {
    method: 'get',
    path: `${factory}/runs/{run}/artifacts/{artifact}`,
    permission: 'read',
    thread: 'main',
    summary: 'Downloads a file that a run left.',
    answer: { status: 200, mediaType: 'application/octet-stream' },
    problems: ['run-unknown', 'artifact-unknown', ...reading],
  },
  retryRun: {
    method: 'post',
    path: `${factory}/runs/{run}/retry`,
    permission: 'manage',
    thread: 'lists',
    summary: 'Queues a failed run again. Its attempts are counted from zero.',
    body: requests.noRequest,
    answer: { status: 200, shape: answers.runAnswer },
    problems: ['run-unknown', 'run-not-failed', ...reading],
  },
  dismissRun: {
    method: 'post',
    path: `${factory}/runs/{run}/dismiss`,
    permission: 'manage',
    thread: 'lists',
    summary:
      'Dismisses a failed run: it stays failed, but no longer holds other runs back. A retry undoes this.',
    body: requests.noRequest,
    answer: { status: 200, shape: answers.runAnswer },
    problems: ['run-unknown', 'run-not-failed', ...reading],
  },

  listAlerts: {
    method: 'get',
    path: `${factory}/alerts`,
    permission: 'read',
    thread: 'lists',
    summary:
      'Lists the alerts of the factory: those that are open, then the last ones that were resolved, newest first.',
    answer: { status: 200, shape: answers.alertsAnswer },
  },
  acknowledgeAlert: {
    method: 'post',
    path: `${factory}/alerts/{alert}/acknowledge`,
    permission: 'manage',
    thread: 'lists',
    summary:
      'Acknowledges an open alert: receivers are not told again that it is open, only when it is resolved.',
    body: requests.noRequest,
    answer: { status: 200, shape: answers.alertAnswer },
    problems: ['alert-unknown', 'alert-resolved', 'locked'],
  },
  muteAlert: {
    method: 'post',
    path: `${factory}/alerts/{alert}/mute`,
    permission: 'manage',
    thread: 'lists',
    summary:
      'Mutes an alert for a time: meanwhile, receivers are not told that it is open, or open again. With 0 seconds, ends that.',
    body: requests.muteRequest,
    answer: { status: 200, shape: answers.alertAnswer },
    problems: ['alert-unknown', 'locked'],
  },

  listSecrets: {
    method: 'get',
    path: `${factory}/secrets`,
    permission: 'read',
    thread: 'operations',
    summary:
      'Lists the names of team secrets, never their values: those that this factory uses or, with the manage permission, all that its webhooks can name.',
    answer: { status: 200, shape: answers.secretsAnswer },
  },
  listTokens: {
    method: 'get',
    path: `${factory}/tokens`,
    permission: 'manage',
    thread: 'lists',
    summary: 'Lists the API tokens that are valid for the factory, never the tokens themselves.',
    answer: { status: 200, shape: answers.tokensAnswer },
  },
  listAudit: {
    method: 'get',
    path: `${factory}/audit`,
    permission: 'manage',
    thread: 'lists',
    summary:
      'Lists the changes of the factory, newest first: who made them, when and from where. Only callers who may manage all factories see changes of all.',
    query: requests.auditQuery,
    answer: { status: 200, shape: answers.auditAnswer },
  },
  exportDefinitions: {
    method: 'get',
    path: `${factory}/definitions`,
    permission: 'read',
    thread: 'operations',
    summary:
      'Renders the applied state as definition files, of which a plan has no changes. They contain no secret values.',
    query: requests.exportQuery,
    answer: { status: 200, shape: answers.definitionsAnswer },
    etag: true,
    problems: reading,
  },
  plan: {
    method: 'post',
    path: `${factory}/plan`,
    permission: 'read',
    thread: 'operations',
    summary: 'Shows what applying the definition files would change.',
    body: requests.planRequest,
    bodyBytesMax: apiDefinitionsBytesMax,
    answer: { status: 200, shape: answers.planAnswer },
    etag: true,
    problems: ['definitions-invalid'],
  },
  apply: {
    method: 'post',
    path: `${factory}/apply`,
    permission: 'manage',
    thread: 'operations',
    summary: 'Applies the definition files, all or nothing. Team secrets are not changed.',
    body: requests.applyRequest,
    bodyBytesMax: apiDefinitionsBytesMax,
    answer: { status: 200, shape: answers.appliedAnswer },
    etag: true,
    problems: [
      'definitions-invalid',
      'changes-unconfirmed',
      'managed-in-repository',
      'managed-in-dashboard',
      'serial-moved',
      'locked',
    ],
  },
} as const satisfies Record<string, ApiRoute>;

/** Every shape that has a name in the OpenAPI document: those that `apiRoutes` uses, and some of their parts. */
export const apiShapes = { ...answers, ...shown, ...problems, ...requests, diagnosticShape };

export type ApiRoutes = typeof apiRoutes;
export type OperationId = keyof ApiRoutes;

/** The operations that can be called without HTTP: on this machine, or in a thread of the daemon. */
export type CallableId = {
  [Id in OperationId]: ApiRoutes[Id]['thread'] extends 'port' ? never : Id;
}[OperationId];
