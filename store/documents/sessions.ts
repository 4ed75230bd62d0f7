import { z } from 'zod';
import { type StoredSessions, storedPersonShape } from '../stored-sessions.ts';
import type { Documents, StoredDocument } from './documents.ts';

const sessionShape = z.strictObject({
  digest: z.string(),
  /** The digest of the owner, an API token or a person. */
  tokenSha256: z.string(),
  person: storedPersonShape.optional(),
  host: z.string(),
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

/**
 * The sessions of one daemon, oldest first, in one document: only a digest of each, so that who reads it can use none. The
 * document is read once, because nobody else changes it while the daemon runs.
 */
export function openDocumentSessions(documents: Documents, now: () => Date): StoredSessions {
  let known: Promise<Map<string, Session>> | undefined;
  const read = async () => {
    const { sessions } = await documents.read(sessionsDocument);
    return new Map(sessions.map(session => [session.digest, session]));
  };
  const readOnce = () => {
    known ??= read().catch(error => {
      known = undefined;
      throw error;
    });
    return known;
  };
  const isOver = ({ untilMs }: Session) => now().getTime() >= untilMs;
  const change = async (change: (sessions: readonly Session[]) => Session[]) => {
    const { data } = await documents.change(sessionsDocument, async stored => ({
      next: { ...stored, sessions: change(stored.sessions.filter(session => !isOver(session))) },
      result: undefined,
    }));
    known = Promise.resolve(new Map(data.sessions.map(session => [session.digest, session])));
  };
  return {
    keep: (digest, { ownerSha256: tokenSha256, person, host }, { lifetimeMs, perOwnerMax }) =>
      change(sessions => {
        const own = sessions.filter(session => session.tokenSha256 === tokenSha256);
        const ended = new Set(own.slice(0, Math.max(0, own.length - perOwnerMax + 1)));
        const begun = {
          digest,
          tokenSha256,
          ...(person && { person }),
          host,
          untilMs: now().getTime() + lifetimeMs,
        };
        return [...sessions.filter(session => !ended.has(session)), begun];
      }),
    find: async digest => {
      const session = (await readOnce()).get(digest);
      if (!session || isOver(session)) return undefined;
      const { tokenSha256: ownerSha256, person, host } = session;
      return { ownerSha256, person, host };
    },
    remove: async digest => {
      if ((await readOnce()).has(digest)) {
        await change(sessions => sessions.filter(session => session.digest !== digest));
      }
    },
  };
}
