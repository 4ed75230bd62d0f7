import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { identityAnswer, signedInAnswer } from '../../../schema/api/answers.ts';
import type { StoredPerson } from '../../../store/ports/stored-sessions.ts';
import type { Caller } from '../guards/caller.ts';
import type { SessionCookie } from '../guards/session-cookie.ts';
import { personSessionMs, type Sessions, tokenSessionMs } from '../guards/sessions.ts';

interface SessionDeps {
  readonly callers: { readonly sessions: Sessions };
  readonly cookie: SessionCookie;
  readonly readClientAddress: (request: IncomingMessage) => string;
  readonly log: Logger;
}

/** Begins a session of the dashboard, in place of one that the browser may have. `person` has signed in at a provider. */
export async function beginSession(
  { callers, cookie, log, readClientAddress }: SessionDeps,
  context: Context,
  caller: Caller,
  person: StoredPerson | undefined,
): Promise<{ readonly body: z.output<typeof signedInAnswer> }> {
  const lifetimeMs = person ? personSessionMs : tokenSessionMs;
  const from = readClientAddress(context.req);
  const session = { ownerSha256: caller.sha256, person, host: context.headers.host ?? '', from };
  const before = cookie.read(context);
  if (before) await callers.sessions.end(before);
  const { id, key } = await callers.sessions.begin(session, lifetimeMs);
  cookie.write(context, id, lifetimeMs);
  const { kind, name, subject } = caller;
  log.info({ [kind]: name, subject, from }, 'signed in');
  return { body: { ...toIdentity(caller), sessionKey: key } };
}

export function toIdentity({ kind, name, grants }: Caller): z.output<typeof identityAnswer> {
  return { kind, name, grants: [...grants] };
}
