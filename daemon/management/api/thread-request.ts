import type { ChangeToRecord } from '../../../operations/access/audit.ts';
import type { ApiProblemCode } from '../../../schema/api/problems.ts';
import type { CallableId } from '../../../schema/api/routes.ts';
import type { Grant, Permission } from '../../../schema/grant.ts';
import type { OwnBaseUrl } from '../../../schema/ingress-url.ts';
import type { RefusalParts } from '../../../schema/refusal.ts';

/** A request whose caller was checked, on its way to the thread that answers it. */
export interface ThreadRequest {
  readonly id: CallableId;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** The body as it was received; undefined if the route takes none. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly ifSerial: number | undefined;
  /** All permissions of the caller. */
  readonly grants: readonly Grant[];
  /** When the credential of the caller expires; null: never. */
  readonly expiresAt: string | null;
  /** The caller's permission on the factory in the path, if there is one. */
  readonly permission: Permission | undefined;
  /** The public URL of the ingress. */
  readonly baseUrl: OwnBaseUrl;
  /** The URL at which the ingress listens; null until it does. */
  readonly listensAt: string | null;
  readonly nowMs: number;
  /** The entry of the audit log for what the request changes; undefined if it changes nothing. */
  readonly change: ChangeToRecord | undefined;
  /** Why the stored state of the factory is not the one that is served. */
  readonly problem: { readonly message: string; readonly since: string } | null;
}

export type ThreadAnswer =
  /** The body as JSON; undefined if the answer has none. */
  | {
      readonly ok: true;
      readonly json: Uint8Array | undefined;
      readonly serial: number | undefined;
    }
  | {
      readonly ok: false;
      readonly code: ApiProblemCode;
      readonly parts: RefusalParts;
      /** The error behind the problem, for the log. */
      readonly cause: unknown;
    };

/** Answers a request in a thread of its own; the requests of one `turn` are answered in order. */
export type AnswerInThread = (request: ThreadRequest, turn: string) => Promise<ThreadAnswer>;

/** Returns bytes of a message from another thread as a Buffer, which messages do not preserve. Copies nothing. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
