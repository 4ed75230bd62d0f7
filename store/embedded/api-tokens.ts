import { z } from 'zod';
import {
  type ApiToken,
  type ApiTokens,
  apiTokenShape,
  apiTokensMax,
  requireTokenName,
} from '../api-tokens.ts';
import { StoreError } from '../store-error.ts';
import { readFileVersion } from './files/file-version.ts';
import type { Home } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withHomeLock } from './files/make-home.ts';

const tokensFileShape = z.strictObject({ formatVersion: z.literal(1), tokens: z.array(apiTokenShape) });
const noTokens = { formatVersion: 1 as const, tokens: [] };

/** The API tokens of a home: `tokens.json`. */
export function openApiTokens(home: Home, lockTimeoutMs: number, now: () => Date): ApiTokens {
  const open = () => openJsonFile(home.tokensFile, tokensFileShape, noTokens);
  const list = async () => (await open()).data.tokens;
  const change = (change: (tokens: readonly ApiToken[]) => ApiToken[]) =>
    withHomeLock(home, home.tokensFile, lockTimeoutMs, async () => {
      const database = await open();
      database.data = { formatVersion: 1, tokens: change(database.data.tokens) };
      await database.write();
    });
  return {
    create: async token => {
      requireTokenName(token.name);
      await change(tokens => {
        if (tokens.some(other => other.name === token.name)) {
          throw new StoreError('token-taken', `the API token ${token.name} already exists`);
        }
        if (tokens.length >= apiTokensMax) {
          throw new StoreError(
            'token-invalid',
            `API token limit reached (${apiTokensMax}); revoke tokens that are no longer used`,
          );
        }
        return [...tokens, { ...token, createdAt: now().toISOString(), lastUsedAt: null }];
      });
    },
    revoke: name =>
      change(tokens => {
        if (tokens.some(token => token.name === name)) return tokens.filter(token => token.name !== name);
        throw new StoreError('token-unknown', `there is no API token ${name}`);
      }),
    list,
    find: findByDigest(() => readFileVersion(home.tokensFile), list),
    recordUse: (sha256, at) =>
      change(tokens =>
        tokens.map(token => (token.sha256 === sha256 ? { ...token, lastUsedAt: at.toISOString() } : token)),
      ),
  };
}

/** Checks the file's version at each look-up, and reads the file only if it has changed. */
function findByDigest(
  readVersion: () => Promise<string | undefined>,
  list: () => Promise<readonly ApiToken[]>,
): ApiTokens['find'] {
  let read: { readonly version: string | undefined; readonly byDigest: Map<string, ApiToken> } | undefined;
  return async sha256 => {
    const version = await readVersion();
    if (read?.version !== version || read === undefined) {
      read = { version, byDigest: new Map((await list()).map(token => [token.sha256, token])) };
    }
    return read.byDigest.get(sha256);
  };
}
