import * as access from '../views/access.ts';
import * as alerts from '../views/alerts.ts';
import * as shown from '../views/definitions.ts';
import * as deliveries from '../views/deliveries.ts';
import * as factories from '../views/factories.ts';
import * as health from '../views/health.ts';
import * as plans from '../views/plans.ts';
import * as problems from '../views/problem-answer.ts';
import { diagnosticShape } from '../views/problem-answer.ts';
import * as runs from '../views/runs.ts';
import * as senders from '../views/senders.ts';
import * as verdicts from '../views/verdicts.ts';
import * as webhooks from '../views/webhooks.ts';
import { tokenProblems } from './problems.ts';
import * as requests from './requests.ts';
import type { ApiRoute, RoutePermission, RouteThread } from './route.ts';

/** @limit Largest body of a sign-in, in bytes: it holds only a token. */
const apiSessionBytesMax = 4096;
/** @limit Largest body of a filter test, in bytes (1 MiB): it may hold a whole payload beside the draft. */
const apiTestBytesMax = 1024 * 1024;
/** @limit Largest body of a plan or an apply, in bytes (8 MiB): it holds every definition file of a factory. */
export const apiDefinitionsBytesMax = 8 * 1024 * 1024;

const factory = '/factories/{factory}';

const managed = ['managed-in-files', 'managed-in-repository', 'serial-moved', 'locked'] as const;
const reading = ['log-busy'] as const;
const rotating = [
  ...(['webhook-unknown', 'secret-shared', 'secret-referenced', 'secret-overlap'] as const),
  ...(['serial-moved', 'locked'] as const),
] as const;
const registering = [
  ...(['webhook-unknown', 'sender-missing', 'sender-not-ready', 'sender-failed', 'hook-conflict'] as const),
  ...reading,
] as const;

/** A route; its type has the literals of its row. */
function route<
  const Method extends ApiRoute['method'],
  const Path extends string,
  const Permission extends RoutePermission,
  const Thread extends RouteThread,
  const Rest extends Omit<ApiRoute, 'method' | 'path' | 'permission' | 'thread'>,
>(
  method: Method,
  path: Path,
  permission: Permission,
  thread: Thread,
  // Refuses keys that no route has.
  rest: Rest & Readonly<Record<Exclude<keyof Rest, keyof ApiRoute>, never>>,
) {
  return { method, path, permission, thread, ...rest };
}

/** Every route of the management API by its subject and operation id, with its permission, shapes and documentation. */
export const routesBySubject = {
  reference: {
    describeApi: route('get', '/openapi.json', 'public', 'operations', {
      summary: 'Returns this document.',
      answer: { status: 200, mediaType: 'application/json' },
    }),
    listSchemes: route('get', '/schemes', 'signed-in', 'lists', {
      summary: 'Lists the signature schemes, and how to set up each provider.',
      query: requests.schemesQuery,
      answer: { status: 200, shape: webhooks.schemesAnswer },
    }),
  },
  sessions: {
    signIn: route('post', '/session', 'public', 'port', {
      summary: 'Starts a dashboard session. Its cookie and its key together replace the API token.',
      body: requests.sessionRequest,
      bodyBytesMax: apiSessionBytesMax,
      answer: { status: 200, shape: access.signedInAnswer },
      problems: [...tokenProblems, 'too-many-attempts'],
    }),
    showSignIn: route('get', '/sign-in', 'public', 'port', {
      summary: 'Shows whether people can sign in at an OpenID Connect provider.',
      answer: { status: 200, shape: access.signInAnswer },
    }),
    beginSignIn: route('post', '/sign-in', 'public', 'port', {
      summary:
        'Begins the sign-in of a person at the OpenID Connect provider. Sets a cookie for ten minutes. Without it and the key in the answer, the sign-in cannot be finished.',
      body: requests.noRequest,
      answer: { status: 200, shape: access.signInBegunAnswer },
      problems: ['not-found', 'provider-invalid', 'provider-unreachable', 'sign-in-refused'],
    }),
    finishSignIn: route('post', '/sign-in/answer', 'public', 'port', {
      summary:
        'Starts a dashboard session for the person whom the provider has sent back. Their groups decide about their permissions.',
      body: requests.signInAnswerRequest,
      bodyBytesMax: apiSessionBytesMax,
      answer: { status: 200, shape: access.signedInAnswer },
      problems: [
        'not-found',
        'provider-invalid',
        'provider-unreachable',
        'sign-in-refused',
        'too-many-attempts',
      ],
    }),
    whoAmI: route('get', '/session', 'signed-in', 'port', {
      summary: 'Shows who is signed in.',
      answer: { status: 200, shape: access.identityAnswer },
    }),
    signOut: route('delete', '/session', 'public', 'port', {
      summary: 'Ends the session, if there is one.',
      answer: { status: 204 },
    }),
    listSessions: route('get', '/sessions', 'signed-in', 'port', {
      summary:
        'Lists the sessions of the caller, and the sessions of everybody whose factories the caller may manage, all of them.',
      answer: { status: 200, shape: access.sessionsAnswer },
    }),
    endSession: route('delete', '/sessions/{session}', 'signed-in', 'port', {
      summary: 'Ends a session that the caller may see.',
      answer: { status: 204 },
      problems: ['session-unknown'],
    }),
  },
  factories: {
    showDaemon: route('get', '/daemon', 'signed-in', 'port', {
      summary:
        'Shows the daemon that answers: its version, store, URLs and limits, and the runners that the factories of the caller may use. Nothing secret, and no paths.',
      answer: { status: 200, shape: factories.daemonAnswer },
    }),
    listFactories: route('get', '/factories', 'signed-in', 'port', {
      summary: 'Lists the factories that the caller may see.',
      answer: { status: 200, shape: factories.factoriesAnswer },
    }),
    showStatus: route('get', `${factory}/status`, 'read', 'operations', {
      summary: 'Shows what is applied, where it comes from, and how the last reconciles ended.',
      answer: { status: 200, shape: factories.statusAnswer },
      etag: true,
    }),
    requestReconcile: route('post', `${factory}/reconcile`, 'manage', 'operations', {
      summary:
        'Asks the daemons for a look at the branch that the factory follows, within seconds. Answers when that was asked: `showStatus` shows how it ends.',
      body: requests.noRequest,
      answer: { status: 202, shape: factories.reconcileAskedAnswer },
      problems: ['repository-missing', 'reconcile-suspended'],
    }),
    suspendReconcile: route('post', `${factory}/reconcile/suspend`, 'manage', 'operations', {
      summary: 'Stops following the branch until somebody resumes it. What is applied stays.',
      body: requests.noRequest,
      answer: { status: 200, shape: factories.suspendedAnswer },
      problems: ['repository-missing'],
    }),
    resumeReconcile: route('post', `${factory}/reconcile/resume`, 'manage', 'operations', {
      summary: 'Follows the branch again. The next reconcile undoes what was applied by hand meanwhile.',
      body: requests.noRequest,
      answer: { status: 200, shape: factories.suspendedAnswer },
      problems: ['repository-missing'],
    }),
  },
  definitions: {
    exportDefinitions: route('get', `${factory}/definitions`, 'read', 'operations', {
      summary:
        'Renders the applied state as definition files, of which a plan has no changes. They contain no secret values.',
      query: requests.exportQuery,
      answer: { status: 200, shape: plans.definitionsAnswer },
      etag: true,
      problems: reading,
    }),
    plan: route('post', `${factory}/plan`, 'read', 'operations', {
      summary: 'Shows what applying the definition files would change.',
      body: requests.planRequest,
      bodyBytesMax: apiDefinitionsBytesMax,
      answer: { status: 200, shape: plans.planAnswer },
      etag: true,
      problems: ['definitions-invalid'],
    }),
    apply: route('post', `${factory}/apply`, 'manage', 'operations', {
      summary: 'Applies the definition files, all or nothing. Team secrets are not changed.',
      body: requests.applyRequest,
      bodyBytesMax: apiDefinitionsBytesMax,
      answer: { status: 200, shape: plans.appliedAnswer },
      etag: true,
      problems: [
        'definitions-invalid',
        'changes-unconfirmed',
        'managed-in-repository',
        'managed-in-dashboard',
        'serial-moved',
        'locked',
      ],
    }),
  },
  webhooks: {
    listWebhooks: route('get', `${factory}/webhooks`, 'read', 'operations', {
      summary: 'Lists the webhooks.',
      answer: { status: 200, shape: webhooks.webhooksAnswer },
      etag: true,
    }),
    createWebhook: route('post', `${factory}/webhooks`, 'manage', 'operations', {
      summary: 'Creates a webhook. Only this answer contains a generated secret.',
      body: requests.newWebhookRequest,
      answer: { status: 201, shape: webhooks.changedWebhookAnswer },
      etag: true,
      problems: [
        ...managed,
        'name-taken',
        'too-many-webhooks',
        'secret-taken',
        'secret-missing',
        'secret-shared',
      ],
    }),
    showWebhook: route('get', `${factory}/webhooks/{uid}`, 'read', 'operations', {
      summary: 'Shows one webhook.',
      answer: { status: 200, shape: shown.webhookDetailAnswer },
      etag: true,
      problems: ['webhook-unknown'],
    }),
    changeWebhook: route('patch', `${factory}/webhooks/{uid}`, 'manage', 'operations', {
      summary:
        'Enables or disables a webhook of any factory, or renames one in a factory that is managed in the dashboard.',
      body: requests.webhookChangeRequest,
      answer: { status: 200, shape: shown.webhookDetailAnswer },
      etag: true,
      problems: [...managed, 'webhook-unknown', 'name-taken'],
    }),
    deleteWebhook: route('delete', `${factory}/webhooks/{uid}`, 'manage', 'operations', {
      summary: 'Deletes a webhook. Its URL never comes back. Its automations stay, but no longer start runs.',
      answer: { status: 204 },
      etag: true,
      problems: [...managed, 'webhook-unknown'],
    }),
    changeWebhookSecret: route('post', `${factory}/webhooks/{uid}/secret`, 'manage', 'operations', {
      summary: 'Rotates the secret, or sets one that has no value yet. The old secret stops working at once.',
      body: requests.webhookSecretRequest,
      answer: { status: 200, shape: webhooks.changedWebhookAnswer },
      etag: true,
      problems: [...managed, 'webhook-unknown', 'secret-referenced', 'secret-shared'],
    }),
    beginSecretRotation: route('post', `${factory}/webhooks/{uid}/secret/rotation`, 'manage', 'operations', {
      summary:
        'Replaces the secret of a webhook by a random value, and keeps the one before valid for an hour. Works wherever the factory is managed.',
      body: requests.noRequest,
      answer: { status: 200, shape: webhooks.secretRotationAnswer },
      etag: true,
      problems: [...rotating, 'secret-missing'],
    }),
    endSecretRotation: route(
      'post',
      `${factory}/webhooks/{uid}/secret/rotation/end`,
      'manage',
      'operations',
      {
        summary: 'Ends the overlap of the secret of a webhook at once: only the current value stays valid.',
        body: requests.noRequest,
        answer: { status: 200, shape: webhooks.endedRotationAnswer },
        etag: true,
        problems: rotating,
      },
    ),
  },
  senders: {
    listSenders: route('get', `${factory}/senders`, 'read', 'operations', {
      summary: 'Shows what is known of the hooks of webhooks with a sender, without asking their providers.',
      answer: { status: 200, shape: senders.sendersAnswer },
      problems: reading,
    }),
    checkSender: route('post', `${factory}/webhooks/{uid}/sender/check`, 'manage', 'outside', {
      summary: 'Asks the provider of a webhook about its hook. Changes nothing there.',
      body: requests.noRequest,
      answer: { status: 200, shape: senders.senderAnswer },
      problems: ['webhook-unknown', 'sender-missing', ...reading],
    }),
    planSender: route('post', `${factory}/webhooks/{uid}/sender/plan`, 'manage', 'outside', {
      summary:
        'Asks the provider of a webhook about its hook, and plans what registering it changes. Changes nothing.',
      body: requests.planSenderRequest,
      answer: { status: 200, shape: senders.senderPlanAnswer },
      problems: [...registering, 'secret-shared', 'secret-referenced'],
    }),
    registerSender: route('post', `${factory}/webhooks/{uid}/sender/register`, 'manage', 'outside', {
      summary:
        'Creates the hook of a webhook at its provider, or corrects it, as it was planned, and makes the provider send a ping.',
      body: requests.registerSenderRequest,
      answer: { status: 200, shape: senders.registeredSenderAnswer },
      problems: [...registering, 'hook-changed', 'sender-busy', 'locked'],
    }),
    listMissed: route('post', `${factory}/webhooks/{uid}/sender/missed`, 'manage', 'outside', {
      summary:
        "Compares a part of the provider's own log of a webhook with the delivery log, and lists events that did not arrive.",
      body: requests.missedRequest,
      answer: { status: 200, shape: senders.missedAnswer },
      problems: ['webhook-unknown', 'sender-missing', 'sender-failed', ...reading],
    }),
    redeliverMissed: route('post', `${factory}/webhooks/{uid}/sender/redeliver`, 'manage', 'outside', {
      summary:
        'Asks the provider of a webhook to send some events again, each once and no faster than the limits allow. Repeat it for the others.',
      body: requests.redeliverRequest,
      answer: { status: 200, shape: senders.redeliverAnswer },
      problems: ['webhook-unknown', 'sender-missing', 'sender-failed', ...reading],
    }),
    sendTest: route('post', `${factory}/webhooks/{uid}/test`, 'manage', 'outside', {
      summary:
        'Sends a test to a webhook as its sender would: through the ingress of the daemon, with the credential in force.',
      body: requests.sendTestRequest,
      bodyBytesMax: apiTestBytesMax,
      answer: { status: 200, shape: webhooks.sentTestAnswer },
      problems: ['webhook-unknown', 'test-impossible', 'test-would-start', 'daemon-unreachable', ...reading],
    }),
  },
  automations: {
    listAutomations: route('get', `${factory}/automations`, 'read', 'operations', {
      summary: 'Lists the automations.',
      answer: { status: 200, shape: shown.automationsAnswer },
      etag: true,
    }),
    createAutomation: route('post', `${factory}/automations`, 'manage', 'operations', {
      summary: 'Creates an automation.',
      body: requests.newAutomationRequest,
      answer: { status: 201, shape: shown.automationDetailAnswer },
      etag: true,
      problems: [...managed, 'name-taken', 'factory-too-large'],
    }),
    showAutomation: route('get', `${factory}/automations/{automation}`, 'read', 'operations', {
      summary: 'Shows one automation.',
      answer: { status: 200, shape: shown.automationDetailAnswer },
      etag: true,
      problems: ['automation-unknown'],
    }),
    replaceAutomation: route('put', `${factory}/automations/{automation}`, 'manage', 'operations', {
      summary: 'Replaces an automation.',
      body: requests.automationRequest,
      answer: { status: 200, shape: shown.automationDetailAnswer },
      etag: true,
      problems: [...managed, 'automation-unknown', 'factory-too-large'],
    }),
    deleteAutomation: route('delete', `${factory}/automations/{automation}`, 'manage', 'operations', {
      summary: 'Deletes an automation. Its runs stay in the log.',
      answer: { status: 204 },
      etag: true,
      problems: [...managed, 'automation-unknown'],
    }),
    planAutomation: route('post', `${factory}/automation-plan`, 'read', 'operations', {
      summary: 'Shows what creating or replacing an automation would change, and the impact on runs.',
      body: requests.newAutomationRequest,
      answer: { status: 200, shape: plans.plannedAutomationAnswer },
      etag: true,
    }),
    testFilter: route('post', `${factory}/automation-test`, 'read', 'operations', {
      summary:
        'Tests whether a delivery would trigger an automation or a draft, and shows each clause of the filter.',
      body: requests.testRequest,
      bodyBytesMax: apiTestBytesMax,
      answer: { status: 200, shape: verdicts.filterTestAnswer },
      problems: ['automation-unknown', 'delivery-unknown', 'payload-not-stored', ...reading],
    }),
    testOnStored: route('post', `${factory}/automation-matches`, 'read', 'operations', {
      summary:
        'Tests an automation or a draft on the newest stored deliveries: which match, which nearly, and what would repair that.',
      body: requests.testOnStoredRequest,
      bodyBytesMax: apiTestBytesMax,
      answer: { status: 200, shape: verdicts.testedOnStoredAnswer },
      problems: ['automation-unknown', 'webhook-unknown', ...reading],
    }),
    listRunners: route('get', `${factory}/runners`, 'read', 'operations', {
      summary:
        'Lists the runners that automations of this factory may use, as the last daemon to start offers them.',
      answer: { status: 200, shape: runs.runnersAnswer },
    }),
  },
  deliveries: {
    listDeliveries: route('get', `${factory}/deliveries`, 'read', 'lists', {
      summary:
        'Lists deliveries in the order in which they were recorded: newest first, or with `after` oldest first, also to follow what is recorded from now on.',
      query: requests.deliveriesQuery,
      answer: { status: 200, shape: deliveries.deliveriesAnswer },
      problems: ['webhook-unknown', 'automation-unknown', 'cursor-unknown', ...reading],
    }),
    listUnlogged: route('get', `${factory}/unlogged-requests`, 'read', 'lists', {
      summary: 'Counts the requests of the last hour that were refused and have no row in the log.',
      query: requests.unloggedQuery,
      answer: { status: 200, shape: deliveries.unloggedAnswer },
      problems: reading,
    }),
    watchDeliveries: route('get', `${factory}/live-deliveries`, 'read', 'port', {
      summary:
        'Sends deliveries as they are recorded: Server-Sent Events named `deliveries` with a LiveDeliveries as data. A client that reads too slowly is disconnected, and may connect again.',
      query: requests.liveQuery,
      answer: { status: 200, mediaType: 'text/event-stream' },
      problems: ['webhook-unknown', 'too-many-viewers', ...reading],
    }),
    showDelivery: route('get', `${factory}/deliveries/{delivery}`, 'read', 'operations', {
      summary:
        'Shows one delivery: how its webhook and automations judged it, the runs that it started, and its payload.',
      answer: { status: 200, shape: deliveries.deliveryDetailAnswer },
      problems: ['delivery-unknown', ...reading],
    }),
    downloadPayload: route('get', `${factory}/deliveries/{delivery}/payload`, 'read', 'main', {
      summary: 'Downloads the stored body, byte for byte.',
      answer: { status: 200, mediaType: 'application/octet-stream' },
      problems: ['delivery-unknown', 'payload-not-stored', ...reading],
    }),
    replayDelivery: route('post', `${factory}/deliveries/{delivery}/replay`, 'manage', 'operations', {
      summary: 'Starts new runs from a stored payload, with the automations that are applied now.',
      body: requests.replayRequest,
      answer: { status: 201, shape: deliveries.replayedAnswer },
      problems: [
        'delivery-unknown',
        'payload-not-stored',
        'automation-unknown',
        'nothing-to-replay',
        'automation-disabled',
        ...reading,
      ],
    }),
    describePayloads: route('get', `${factory}/webhooks/{uid}/payloads`, 'read', 'operations', {
      summary:
        'Describes the payloads of the last accepted deliveries of a webhook (name or UID): paths, types, and example values that do not look like credentials.',
      answer: { status: 200, shape: verdicts.payloadsAnswer },
      problems: ['webhook-unknown', ...reading],
    }),
  },
  runs: {
    listRuns: route('get', `${factory}/runs`, 'read', 'lists', {
      summary:
        'Lists runs in the order in which they were recorded: newest first, or with `after` oldest first.',
      query: requests.runsQuery,
      answer: { status: 200, shape: runs.runsAnswer },
      problems: ['webhook-unknown', 'automation-unknown', 'delivery-unknown', 'cursor-unknown', ...reading],
    }),
    showRunTallies: route('get', `${factory}/run-tallies`, 'read', 'lists', {
      summary:
        'Shows how many runs ended in each hour of the last seven days, how long they took, and how many there are now.',
      answer: { status: 200, shape: runs.runTalliesAnswer },
      problems: reading,
    }),
    showRun: route('get', `${factory}/runs/{run}`, 'read', 'lists', {
      summary: 'Shows one run.',
      answer: { status: 200, shape: runs.runAnswer },
      problems: ['run-unknown', ...reading],
    }),
    showRunOutput: route('get', `${factory}/runs/{run}/output`, 'read', 'main', {
      summary: 'Shows the output of all attempts at a run.',
      query: requests.runOutputQuery,
      answer: { status: 200, mediaType: 'text/plain' },
      problems: ['run-unknown', 'output-not-stored', ...reading],
    }),
    downloadArtifact: route('get', `${factory}/runs/{run}/artifacts/{artifact}`, 'read', 'main', {
      summary: 'Downloads a file that a run left.',
      answer: { status: 200, mediaType: 'application/octet-stream' },
      problems: ['run-unknown', 'artifact-unknown', ...reading],
    }),
    retryRun: route('post', `${factory}/runs/{run}/retry`, 'manage', 'lists', {
      summary: 'Queues a failed run again. Its attempts are counted from zero.',
      body: requests.noRequest,
      answer: { status: 200, shape: runs.runAnswer },
      problems: ['run-unknown', 'run-not-failed', ...reading],
    }),
    runAgain: route('post', `${factory}/runs/{run}/again`, 'manage', 'operations', {
      summary:
        'Starts a new run that does the work of one that has ended again, as its automation was then, or with another prompt or runner.',
      body: requests.runAgainRequest,
      answer: { status: 201, shape: runs.runAnswer },
      problems: ['run-unknown', 'run-not-ended', 'automation-unknown', 'payload-not-stored', ...reading],
    }),
    runByHand: route('post', `${factory}/automation-run`, 'manage', 'operations', {
      summary: 'Starts a run of an automation or a draft with a payload that no sender sent.',
      body: requests.runByHandRequest,
      bodyBytesMax: apiTestBytesMax,
      answer: { status: 201, shape: runs.runByHandAnswer },
      problems: ['automation-unknown', 'automation-disabled', 'webhook-unknown', ...reading],
    }),
    approveRun: route('post', `${factory}/runs/{run}/approve`, 'manage', 'lists', {
      summary: 'Approves what a run has left, so that its second command acts on it.',
      body: requests.noRequest,
      answer: { status: 200, shape: runs.runAnswer },
      problems: ['run-unknown', 'run-not-held', ...reading],
    }),
    dismissRun: route('post', `${factory}/runs/{run}/dismiss`, 'manage', 'lists', {
      summary:
        'Dismisses a failed run: it stays failed, but no longer holds other runs back. A retry undoes this.',
      body: requests.noRequest,
      answer: { status: 200, shape: runs.runAnswer },
      problems: ['run-unknown', 'run-not-failed', ...reading],
    }),
    cancelRun: route('post', `${factory}/runs/{run}/cancel`, 'manage', 'lists', {
      summary:
        'Cancels a run that has not ended. One that was never attempted has ended then; of another one, a daemon first ends what it started.',
      body: requests.cancelRunRequest,
      answer: { status: 200, shape: runs.runAnswer },
      problems: ['run-unknown', 'run-ended', ...reading],
    }),
    listPauses: route('get', `${factory}/pauses`, 'read', 'lists', {
      summary: 'Lists the paused automations, also those that are no longer applied.',
      answer: { status: 200, shape: runs.pausesAnswer },
      problems: [...reading],
    }),
    pauseAutomation: route('post', `${factory}/automations/{automation}/pause`, 'manage', 'lists', {
      summary:
        'Pauses an automation: its runs are recorded, but none starts. Those that run go on. Again, it changes when the pause ends.',
      body: requests.pauseRequest,
      answer: { status: 200, shape: runs.pauseAnswer },
      problems: ['automation-unknown', ...reading],
    }),
    resumeAutomation: route('post', `${factory}/automations/{automation}/resume`, 'manage', 'lists', {
      summary: 'Ends the pause of an automation, also of one that is no longer applied.',
      body: requests.noRequest,
      answer: { status: 204 },
      problems: ['automation-not-paused', ...reading],
    }),
  },
  health: {
    showHealth: route('get', `${factory}/health`, 'read', 'lists', {
      summary:
        'Shows the health of each webhook, learned from its own past, and its deliveries of the last seven days by hours.',
      query: requests.healthQuery,
      answer: { status: 200, shape: health.healthAnswer },
      problems: reading,
    }),
    showHealthOverview: route('get', '/health', 'signed-in', 'lists', {
      summary:
        'Counts the webhooks of each factory that the caller may see by their health, and lists those that are quiet or failing.',
      answer: { status: 200, shape: health.healthOverviewAnswer },
      problems: reading,
    }),
    explainWhy: route('get', `${factory}/why/{subject}`, 'read', 'operations', {
      summary:
        'Explains why the last request of a webhook (name or UID), or a delivery, started runs or did not, or what became of a run: each step of its way, and the first one that is wrong.',
      answer: { status: 200, shape: health.whyAnswer },
      problems: ['webhook-unknown', 'delivery-unknown', 'run-unknown', ...reading],
    }),
  },
  alerts: {
    listAlerts: route('get', `${factory}/alerts`, 'read', 'lists', {
      summary:
        'Lists the alerts of the factory: those that are open, then the last ones that were resolved, newest first; and the receivers, with the last message to each.',
      answer: { status: 200, shape: alerts.alertsAnswer },
    }),
    listOpenAlerts: route('get', '/alerts', 'signed-in', 'port', {
      summary: 'Lists the open alerts of all factories that the caller may see, the worst first.',
      answer: { status: 200, shape: alerts.openAlertsAnswer },
    }),
    acknowledgeAlert: route('post', `${factory}/alerts/{alert}/acknowledge`, 'manage', 'lists', {
      summary:
        'Acknowledges an open alert: receivers are not told again that it is open, only when it is resolved.',
      body: requests.noRequest,
      answer: { status: 200, shape: alerts.alertAnswer },
      problems: ['alert-unknown', 'alert-resolved', 'locked'],
    }),
    muteAlert: route('post', `${factory}/alerts/{alert}/mute`, 'manage', 'lists', {
      summary:
        'Mutes an alert for a time: meanwhile, receivers are not told that it is open, or open again. With 0 seconds, ends that.',
      body: requests.muteRequest,
      answer: { status: 200, shape: alerts.alertAnswer },
      problems: ['alert-unknown', 'locked'],
    }),
  },
  access: {
    listSecrets: route('get', `${factory}/secrets`, 'read', 'operations', {
      summary:
        'Lists the names of team secrets, never their values: those that this factory uses or names though they are missing and, with the manage permission, all that its webhooks can name.',
      answer: { status: 200, shape: access.secretsAnswer },
    }),
    listTokens: route('get', `${factory}/tokens`, 'manage', 'lists', {
      summary: 'Lists the API tokens that are valid for the factory, never the tokens themselves.',
      answer: { status: 200, shape: access.tokensAnswer },
    }),
    createToken: route('post', `${factory}/tokens`, 'manage', 'lists', {
      summary:
        'Creates an API token, for no more factories and no longer than the caller has. Only this answer contains it.',
      body: requests.newTokenRequest,
      answer: { status: 201, shape: access.createdTokenAnswer },
      problems: ['token-not-permitted', 'api-token-taken', 'locked'],
    }),
    revokeToken: route('delete', `${factory}/tokens/{token}`, 'manage', 'lists', {
      summary: 'Revokes an API token by its name: its next request is refused, and its sessions end.',
      answer: { status: 204 },
      problems: ['api-token-unknown', 'token-not-permitted', 'locked'],
    }),
    listAudit: route('get', `${factory}/audit`, 'manage', 'lists', {
      summary:
        'Lists the changes of the factory, newest first: who made them, when and from where. Only callers who may manage all factories see changes of all.',
      query: requests.auditQuery,
      answer: { status: 200, shape: access.auditAnswer },
    }),
  },
} satisfies Record<string, Record<string, ApiRoute>>;

/** The routes by their operation ids. */
export const apiRoutes = {
  ...routesBySubject.reference,
  ...routesBySubject.sessions,
  ...routesBySubject.factories,
  ...routesBySubject.definitions,
  ...routesBySubject.webhooks,
  ...routesBySubject.senders,
  ...routesBySubject.automations,
  ...routesBySubject.deliveries,
  ...routesBySubject.runs,
  ...routesBySubject.health,
  ...routesBySubject.alerts,
  ...routesBySubject.access,
};

/** Every shape that has a name in the OpenAPI document: those that `apiRoutes` uses, and some of their parts. */
export const apiShapes = {
  ...access,
  ...alerts,
  ...verdicts,
  ...deliveries,
  ...factories,
  ...health,
  ...plans,
  ...runs,
  ...senders,
  ...webhooks,
  ...shown,
  ...problems,
  ...requests,
  diagnosticShape,
};

export type ApiRoutes = typeof apiRoutes;
export type OperationId = keyof ApiRoutes;

/** The operations that can be called without HTTP: on this machine, or in a thread of the daemon. */
export type CallableId = {
  [Id in OperationId]: ApiRoutes[Id]['thread'] extends 'port' ? never : Id;
}[OperationId];
