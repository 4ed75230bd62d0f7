import type { Readable } from 'node:stream';
import type { CheckedParts } from '../../schema/api/call.ts';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes, CallableId, routesBySubject } from '../../schema/api/routes.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Grant, Permission } from '../../schema/grant.ts';
import type { OwnBaseUrl } from '../../schema/ingress-url.ts';
import type { ReadOutside } from '../../store/ports/team-secrets.ts';
import type { Changeable } from '../access/record-writes.ts';
import type { Remediable } from '../attention/remedies.ts';
import type { Factory, OpenFactory } from '../factory.ts';

/** Everything that the handler of one request needs. Each request has dependencies of its own. */
export interface OperationDeps extends Changeable, Pick<Factory, 'now' | 'randomBytes'> {
  /** Reads the applied state by which deliveries are currently judged. Fails with `state-unreadable`. */
  readonly readState: (factory: string) => Promise<AppliedState>;
  /** The public URL of the ingress to show. */
  readonly baseUrl: string;
  /** The same URL in a daemon. In a command, the URL that the operator chose, for everything but showing. */
  readonly ownBaseUrl: OwnBaseUrl;
  /** Why the stored state of the factory is not the one that the daemon serves; null if it is, or outside a daemon. */
  readonly problem: { readonly message: string; readonly since: string } | null;
  /** Finds where the ingress of the daemon listens, without a proxy; null if no daemon answers. */
  readonly findIngress: () => Promise<string | null>;
  /** Lets other operations run while this one waits for another machine. */
  readonly waitOutside: ReadOutside;
  /** Finds why the daemon does not serve what is applied; null if it does. */
  readonly findDaemonProblem: () => Promise<Remediable | null>;
}

/** A request that was checked: the caller has the permission, and all parts have the shapes of the route. */
export interface OperationRequest<Id extends CallableId> extends CheckedParts<Id> {
  /** All permissions of the caller. */
  readonly grants: readonly Grant[];
  /** When the credential of the caller expires; null: never. */
  readonly expiresAt: string | null;
  /** The caller's permission on the factory in the path. */
  readonly permission: PermissionOf<ApiRoutes[Id]>;
}

type PermissionOf<Route> = Route extends { permission: 'read' | 'manage' } ? Permission : undefined;

/** The body, and the serial if it shows a factory's state. */
export interface OperationReply<T> {
  readonly body: T;
  readonly serial?: number;
  /** Names the change in the audit log; null if nothing was changed. By default, the parameters of the path do. */
  readonly changed?: string | null;
}

/** The body of a reply that is not JSON. */
export interface Download {
  readonly content: Uint8Array | Readable;
  /** Bytes. */
  readonly size: number;
  readonly mediaType: string;
  /** The name under which a browser saves it; undefined if it shows it. */
  readonly fileName?: string;
}

type ReplyOf<Id extends CallableId> = OperationReply<
  Immutable<ApiAnswer<ApiRoutes[Id], NotJson<ApiRoutes[Id]>>>
>;

type NotJson<Route> = Route extends { thread: 'main' } ? Download : unknown;

/** An answer is only serialized, so operations may give read-only values. */
type Immutable<T> = unknown extends T
  ? T
  : T extends Download
    ? T
    : { readonly [K in keyof T]: Immutable<T[K]> };

/** Everything that a handler needs, with the factory in the path. */
export interface HandlerDeps extends OperationDeps {
  readonly factory: OpenFactory;
}

/** Handles requests for one operation. Fails with a Refusal, or with an error of the store. */
export type Handler<Id extends CallableId> = (
  deps: HandlerDeps,
  request: OperationRequest<Id>,
) => Promise<ReplyOf<Id>> | ReplyOf<Id>;

type Routes = typeof routesBySubject;

/** The handlers of the operations about a subject. */
export type HandlersOf<Subject extends keyof Routes> = {
  readonly [Id in keyof Routes[Subject] & CallableId]: Handler<Id>;
};

/** The subjects with operations that can be called without HTTP. */
export type CallableSubject = {
  [Subject in keyof Routes]: keyof Routes[Subject] & CallableId extends never ? never : Subject;
}[keyof Routes];

/** Replies with a body that shows the state of a factory. */
export function showState<T extends { readonly serial: number }>(body: T) {
  return { body, serial: body.serial };
}

/** Turns the times of a query into the times that a list takes. */
export function toWanted<Query extends { since?: number | undefined; until?: number | undefined }>({
  since: sinceMs,
  until: untilMs,
  ...query
}: Query) {
  return { ...query, sinceMs, untilMs };
}

/** The parts of a download that a browser saves. */
export function asFile(fileName: string) {
  return { mediaType: 'application/octet-stream', fileName };
}
