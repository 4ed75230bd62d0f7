import { z } from 'zod';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import { type StoredSession, type StoredSessions, storedPersonShape } from '../ports/stored-sessions.ts';
import { readWhenChanged } from './read-documents.ts';

const sessionShape = z.strictObject({
  digest: z.string(),
  /** The digest of the owner, an API token or a person. */
  ownerSha256: z.string(),
  person: storedPersonShape.optional(),
  host: z.string(),
  from: z.string(),
  beganMs: z.int(),
  usedMs: z.int(),
  untilMs: z.int(),
});
const sessionsShape = z.strictObject({ formatVersion: z.literal(1), sessions: z.array(sessionShape) });
type Session = z.output<typeof sessionShape>;

const sessionsDocument: StoredDocument<z.output<typeof sessionsShape>> = {
  kind: 'sessions',
  shape: sessionsShape,
  whenMissing: { formatVersion: 1, sessions: [] },
  // Nobody may sign in by editing the file, and everybody can sign in again.
  whenEdited: () => ({ formatVersion: 1, sessions: [] }),
};

/** The sessions of one daemon, oldest first, in one document: only a digest of each, so that who reads it can use none. */
export function openDocumentSessions(documents: Documents, now: () => Date): StoredSessions {
  const byDigest = ({ sessions }: z.output<typeof sessionsShape>) =>
    new Map(sessions.map(session => [session.digest, session]));
  const readByDigest = readWhenChanged(documents, sessionsDocument, byDigest);
  const isOver = ({ untilMs }: Session) => now().getTime() >= untilMs;
  const idleForMs = ({ usedMs }: Session) => Math.max(0, now().getTime() - usedMs);
  const change = async (change: (sessions: readonly Session[]) => Session[]) => {
    await documents.change(sessionsDocument, async stored => ({
      next: { ...stored, sessions: change(stored.sessions.filter(session => !isOver(session))) },
      result: undefined,
    }));
  };
  return {
    keep: (digest, { ownerSha256, person, host, from }, { lifetimeMs, perOwnerMax }) =>
      change(sessions => {
        const own = sessions.filter(session => session.ownerSha256 === ownerSha256);
        const ended = new Set(own.slice(0, Math.max(0, own.length - perOwnerMax + 1)));
        const beganMs = now().getTime();
        const times = { beganMs, usedMs: beganMs, untilMs: beganMs + lifetimeMs };
        const begun = { digest, ownerSha256, ...(person && { person }), host, from, ...times };
        return [...sessions.filter(session => !ended.has(session)), begun];
      }),
    find: async (digest, idleMs) => {
      const session = (await readByDigest()).get(digest);
      if (!session || isOver(session) || idleForMs(session) >= idleMs) return undefined;
      return { ...toSession(session), idleForMs: idleForMs(session) };
    },
    list: async idleMs => {
      const sessions = [...(await readByDigest()).values()].toReversed();
      const valid = sessions.filter(session => !isOver(session) && idleForMs(session) < idleMs);
      return valid.map(session => ({
        ...toSession(session),
        digest: session.digest,
        beganAt: toIso(session.beganMs),
        usedAt: toIso(session.usedMs),
        until: toIso(session.untilMs),
      }));
    },
    recordUse: digest =>
      change(sessions =>
        sessions.map(session =>
          session.digest === digest ? { ...session, usedMs: now().getTime() } : session,
        ),
      ),
    remove: async digest => {
      if ((await readByDigest()).has(digest)) {
        await change(sessions => sessions.filter(session => session.digest !== digest));
      }
    },
  };
}

function toSession({ ownerSha256, person, host, from }: Session): StoredSession {
  return { ownerSha256, person, host, from };
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
