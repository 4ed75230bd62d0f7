import type { StoredSession, StoredSessions } from '../../../store/stored-sessions.ts';

/** Sessions in this process's memory, for a store that only one daemon serves: a restart ends all. */
export function createMemorySessions(monotonicMs: () => number): StoredSessions {
  const sessions = new Map<string, StoredSession & { readonly untilMs: number }>();
  return {
    keep: async (digest, session, { lifetimeMs, perTokenMax }) => {
      for (const [key, { untilMs }] of sessions) if (monotonicMs() >= untilMs) sessions.delete(key);
      // A map keeps the order of insertion, so the first is the oldest.
      const own = [...sessions].filter(([, { tokenSha256 }]) => tokenSha256 === session.tokenSha256);
      const [oldest] = own;
      if (own.length >= perTokenMax && oldest) sessions.delete(oldest[0]);
      sessions.set(digest, { ...session, untilMs: monotonicMs() + lifetimeMs });
    },
    find: async digest => {
      const session = sessions.get(digest);
      return session && monotonicMs() < session.untilMs ? session : undefined;
    },
    remove: async digest => {
      sessions.delete(digest);
    },
  };
}
