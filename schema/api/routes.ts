import type { z } from 'zod';
import * as shapes from './answers.ts';
import type { ApiProblemCode } from './problems.ts';
import * as requests from './requests.ts';

/** @limit Largest body of a filter test, in bytes: it may hold a whole payload beside the draft. */
const apiTestBytesMax = 1024 * 1024;
/** @limit Largest body of a plan or an apply, in bytes: it holds every definition file of a factory. */
const apiDefinitionsBytesMax = 8 * 1024 * 1024;

/**
 * What a route asks of its caller: nothing; any token or session; one that may read, or manage, the factory of the
 * path. There is no default: a route without one does not compile.
 */
export type RoutePermission = 'public' | 'signed-in' | 'read' | 'manage';

export interface ApiRoute {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below /api/v1; `{…}` are parameters. */
  readonly path: string;
  readonly permission: RoutePermission;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly bodyBytesMax?: number;
  /** The answer that is not a problem: its status and shape, or the media type of what is no JSON. */
  readonly answer: {
    readonly status: number;
    readonly shape?: z.ZodType;
    readonly mediaType?: string;
  };
  /** Answers with the serial as ETag; a change takes it back in If-Match. */
  readonly etag?: true;
  /** Problems of its own, beside those that every route may have. */
  readonly problems?: readonly ApiProblemCode[];
}

export const apiPrefix = '/api/v1';
const factory = '/factories/{factory}';

const managed = ['managed-in-files', 'managed-in-repository', 'serial-moved', 'locked'] as const;
const reading = ['log-busy'] as const;

/** Every route of the management API, by the id of its operation: permission, shapes and documentation in one table. */
export const apiRoutes = {
  describeApi: {
    method: 'get',
    path: '/openapi.json',
    permission: 'public',
    summary: 'This document.',
    answer: { status: 200, mediaType: 'application/json' },
  },
  signIn: {
    method: 'post',
    path: '/session',
    permission: 'public',
    summary: 'Begins a session of the dashboard: its cookie stands for the API token.',
    body: requests.sessionRequest,
    bodyBytesMax: 4096,
    answer: { status: 200, shape: shapes.identityShape },
    problems: ['token-unknown', 'too-many-attempts'],
  },
  whoAmI: {
    method: 'get',
    path: '/session',
    permission: 'signed-in',
    summary: 'Tells who is signed in.',
    answer: { status: 200, shape: shapes.identityShape },
  },
  signOut: {
    method: 'delete',
    path: '/session',
    permission: 'public',
    summary: 'Ends the session, if there is one.',
    answer: { status: 204 },
  },
  listFactories: {
    method: 'get',
    path: '/factories',
    permission: 'signed-in',
    summary: 'Lists the factories that the caller may see.',
    answer: { status: 200, shape: shapes.factoriesShape },
  },
  listSchemes: {
    method: 'get',
    path: '/schemes',
    permission: 'signed-in',
    summary: 'Lists the signature schemes and what to do at each provider.',
    answer: { status: 200, shape: shapes.schemesShape },
  },
  showStatus: {
    method: 'get',
    path: `${factory}/status`,
    permission: 'read',
    summary: 'Shows what is applied, where it comes from, and how the last reconciles went.',
    answer: { status: 200, shape: shapes.statusShape },
    etag: true,
  },

  listWebhooks: {
    method: 'get',
    path: `${factory}/webhooks`,
    permission: 'read',
    summary: 'Lists the webhooks.',
    answer: { status: 200, shape: shapes.webhooksShape },
    etag: true,
  },
  createWebhook: {
    method: 'post',
    path: `${factory}/webhooks`,
    permission: 'manage',
    summary: 'Creates a webhook. What is generated is in this answer and nowhere else.',
    body: requests.newWebhookRequest,
    answer: { status: 201, shape: shapes.changedWebhookShape },
    etag: true,
    problems: [...managed, 'name-taken', 'too-many-webhooks', 'secret-taken', 'secret-missing'],
  },
  showActivity: {
    method: 'get',
    path: `${factory}/activity`,
    permission: 'read',
    summary: 'Shows the last delivery of each webhook and its last 24 hours; up to a minute old.',
    answer: { status: 200, shape: shapes.activityShape },
    problems: reading,
  },
  showWebhook: {
    method: 'get',
    path: `${factory}/webhooks/{uid}`,
    permission: 'read',
    summary: 'Shows one webhook.',
    answer: { status: 200, shape: shapes.webhookDetailShape },
    etag: true,
    problems: ['webhook-unknown'],
  },
  changeWebhook: {
    method: 'patch',
    path: `${factory}/webhooks/{uid}`,
    permission: 'manage',
    summary: 'Toggles Enabled, on a factory of any kind, or renames, where it is managed here.',
    body: requests.webhookChangeRequest,
    answer: { status: 200, shape: shapes.webhookDetailShape },
    etag: true,
    problems: [...managed, 'webhook-unknown', 'name-taken'],
  },
  changeWebhookSecret: {
    method: 'post',
    path: `${factory}/webhooks/{uid}/secret`,
    permission: 'manage',
    summary: 'Rotates the secret, or supplies one that was left blank. The old one stops working at once.',
    body: requests.webhookSecretRequest,
    answer: { status: 200, shape: shapes.changedWebhookShape },
    etag: true,
    problems: [...managed, 'webhook-unknown', 'secret-shared'],
  },
  deleteWebhook: {
    method: 'delete',
    path: `${factory}/webhooks/{uid}`,
    permission: 'manage',
    summary: 'Deletes a webhook: its URL never comes back. Automations on it stay and stop firing.',
    answer: { status: 204 },
    etag: true,
    problems: [...managed, 'webhook-unknown'],
  },

  listAutomations: {
    method: 'get',
    path: `${factory}/automations`,
    permission: 'read',
    summary: 'Lists the automations.',
    answer: { status: 200, shape: shapes.automationsShape },
    etag: true,
  },
  createAutomation: {
    method: 'post',
    path: `${factory}/automations`,
    permission: 'manage',
    summary: 'Creates an automation.',
    body: requests.newAutomationRequest,
    answer: { status: 201, shape: shapes.automationDetailShape },
    etag: true,
    problems: [...managed, 'name-taken'],
  },
  testFilter: {
    method: 'post',
    path: `${factory}/automation-test`,
    permission: 'read',
    summary: 'Tells whether a delivery would trigger an automation, or a draft, clause by clause.',
    body: requests.testRequest,
    bodyBytesMax: apiTestBytesMax,
    answer: { status: 200, shape: shapes.verdictShape },
    problems: ['automation-unknown', 'delivery-unknown', 'payload-not-stored', ...reading],
  },
  showAutomation: {
    method: 'get',
    path: `${factory}/automations/{automation}`,
    permission: 'read',
    summary: 'Shows one automation.',
    answer: { status: 200, shape: shapes.automationDetailShape },
    etag: true,
    problems: ['automation-unknown'],
  },
  replaceAutomation: {
    method: 'put',
    path: `${factory}/automations/{automation}`,
    permission: 'manage',
    summary: 'Replaces what an automation says.',
    body: requests.automationRequest,
    answer: { status: 200, shape: shapes.automationDetailShape },
    etag: true,
    problems: [...managed, 'automation-unknown'],
  },
  deleteAutomation: {
    method: 'delete',
    path: `${factory}/automations/{automation}`,
    permission: 'manage',
    summary: 'Deletes an automation. Its runs stay in the log.',
    answer: { status: 204 },
    etag: true,
    problems: [...managed, 'automation-unknown'],
  },

  listDeliveries: {
    method: 'get',
    path: `${factory}/deliveries`,
    permission: 'read',
    summary: 'Lists deliveries in the order of their commits, newest first.',
    query: requests.deliveriesQuery,
    answer: { status: 200, shape: shapes.deliveriesShape },
    problems: ['cursor-unknown', ...reading],
  },
  watchDeliveries: {
    method: 'get',
    path: `${factory}/live-deliveries`,
    permission: 'read',
    summary:
      'Sends deliveries as they are committed: Server-Sent Events named `deliveries`, their data a LiveDeliveries. A client that reads too slowly is cut off and may connect anew.',
    query: requests.liveQuery,
    answer: { status: 200, mediaType: 'text/event-stream' },
    problems: ['too-many-viewers'],
  },
  showDelivery: {
    method: 'get',
    path: `${factory}/deliveries/{delivery}`,
    permission: 'read',
    summary: 'Explains one delivery: how it was judged, what it started, and its payload.',
    answer: { status: 200, shape: shapes.deliveryDetailShape },
    problems: ['delivery-unknown', ...reading],
  },
  downloadPayload: {
    method: 'get',
    path: `${factory}/deliveries/{delivery}/payload`,
    permission: 'read',
    summary: 'The stored body, byte for byte, as an attachment.',
    answer: { status: 200, mediaType: 'application/octet-stream' },
    problems: ['delivery-unknown', 'payload-not-stored', ...reading],
  },
  replayDelivery: {
    method: 'post',
    path: `${factory}/deliveries/{delivery}/replay`,
    permission: 'manage',
    summary: 'Starts new runs from a stored payload, under the automations that are applied now.',
    body: requests.replayRequest,
    answer: { status: 201, shape: shapes.replayedShape },
    problems: ['delivery-unknown', 'payload-not-stored', 'nothing-to-replay', ...reading],
  },

  listRuns: {
    method: 'get',
    path: `${factory}/runs`,
    permission: 'read',
    summary: 'Lists runs, newest first.',
    query: requests.runsQuery,
    answer: { status: 200, shape: shapes.runsShape },
    problems: ['cursor-unknown', ...reading],
  },
  showRun: {
    method: 'get',
    path: `${factory}/runs/{run}`,
    permission: 'read',
    summary: 'Shows one run.',
    answer: { status: 200, shape: shapes.runShape },
    problems: ['run-unknown', ...reading],
  },
  showRunOutput: {
    method: 'get',
    path: `${factory}/runs/{run}/output`,
    permission: 'read',
    summary: 'What the attempts at a run put out.',
    answer: { status: 200, mediaType: 'text/plain' },
    problems: ['run-unknown', 'output-not-stored', ...reading],
  },
  retryRun: {
    method: 'post',
    path: `${factory}/runs/{run}/retry`,
    permission: 'manage',
    summary: 'Queues a failed run again, its attempts counted anew.',
    body: requests.noRequest,
    answer: { status: 200, shape: shapes.runShape },
    problems: ['run-unknown', 'run-not-failed', ...reading],
  },

  listSecrets: {
    method: 'get',
    path: `${factory}/secrets`,
    permission: 'read',
    summary:
      'Lists team secrets by name, never their values: those that this factory uses, and for those who may manage it all that a webhook can name.',
    answer: { status: 200, shape: shapes.secretsShape },
  },
  plan: {
    method: 'post',
    path: `${factory}/plan`,
    permission: 'read',
    summary: 'Shows what applying the definition files would change.',
    body: requests.planRequest,
    bodyBytesMax: apiDefinitionsBytesMax,
    answer: { status: 200, shape: shapes.planShape },
    etag: true,
    problems: ['definitions-invalid'],
  },
  apply: {
    method: 'post',
    path: `${factory}/apply`,
    permission: 'manage',
    summary:
      'Makes the definition files the applied state, all or nothing. Team secrets stay where they are.',
    body: requests.applyRequest,
    bodyBytesMax: apiDefinitionsBytesMax,
    answer: { status: 200, shape: shapes.appliedShape },
    etag: true,
    problems: [
      'definitions-invalid',
      'destroy-unconfirmed',
      'managed-in-repository',
      'managed-in-dashboard',
      'serial-moved',
      'locked',
    ],
  },
} as const satisfies Record<string, ApiRoute>;

export type ApiRoutes = typeof apiRoutes;
export type OperationId = keyof ApiRoutes;
