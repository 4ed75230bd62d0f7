import type { z } from 'zod';
import { Refusal } from '../../schema/refusal.ts';
import type { sessionAnswer } from '../../schema/views/access.ts';
import type { ApiToken } from '../../store/ports/api-tokens.ts';
import type { Store } from '../../store/ports/store.ts';
import { type ListedSession, sessionIdleMs, toSessionId } from '../../store/ports/stored-sessions.ts';

/** A session of the dashboard. */
export interface OwnedSession {
  readonly view: z.output<typeof sessionAnswer>;
  readonly stored: ListedSession;
  /** The API token that began it; undefined if a person did. */
  readonly token: ApiToken | undefined;
}

/** Lists the sessions of all people and valid API tokens, those that began last first. */
export async function listSessions(
  { sessions, apiTokens }: Pick<Store, 'sessions' | 'apiTokens'>,
  nowMs: number,
): Promise<OwnedSession[]> {
  const isValid = ({ expiresAt }: ApiToken) => expiresAt === null || Date.parse(expiresAt) > nowMs;
  const valid = (await apiTokens.list()).filter(isValid);
  const tokens = new Map(valid.map(token => [token.sha256, token]));
  const listed = await sessions.list(sessionIdleMs);
  return listed.flatMap(stored => {
    const { digest, person, host, from, beganAt, usedAt, until } = stored;
    const token = person ? undefined : tokens.get(stored.ownerSha256);
    const owner = person ?? token;
    if (!owner) return [];
    const kind: 'person' | 'token' = person ? 'person' : 'token';
    const who = { kind, name: owner.name, subject: person?.subject ?? null };
    return [{ view: { id: toSessionId(digest), ...who, host, from, beganAt, usedAt, until }, stored, token }];
  });
}

/** Finds a session by its ID. Fails with `session-unknown`. */
export function findSession(sessions: readonly OwnedSession[], id: string): OwnedSession {
  const found = sessions.find(({ view }) => view.id === id);
  if (found) return found;
  throw new Refusal('session-unknown', { detail: `there is no session ${id}; it may have ended` });
}
