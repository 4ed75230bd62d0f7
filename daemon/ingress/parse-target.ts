import { uidPattern } from '../../schema/ids.ts';

/** The webhook and the token that the path of a delivery names. */
export interface Target {
  readonly uid: string;
  /** The path segment after the UID. */
  readonly token: string | undefined;
}

const prefix = '/webhooks/w/';
const uidLength = 27;

/** Parses `/webhooks/w/<uid>` or `/webhooks/w/<uid>/<token>`, which must match exactly; undefined for any other path. */
export function parseTarget(path: string): Target | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const uid = path.slice(prefix.length, prefix.length + uidLength);
  if (!uidPattern.test(uid)) return undefined;
  const rest = path.slice(prefix.length + uidLength);
  if (rest === '') return { uid, token: undefined };
  const token = rest.slice(1);
  if (rest[0] !== '/' || token === '' || token.includes('/')) return undefined;
  return { uid, token: decodeUnreserved(token) };
}

/** RFC 3986 section 6.2.2.2: `%7E` is `~`. A malformed escape stays as it is, and matches no token. */
function decodeUnreserved(token: string): string {
  return token.includes('%')
    ? token.replaceAll(/%([2-7][0-9A-Fa-f])/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : token;
}
