import { z } from 'zod';
import { hasRoom, operatorOwner } from '../../schema/quota.ts';
import {
  type ApiToken,
  type ApiTokens,
  apiTokenShape,
  apiTokensQuota,
  requireTokenName,
  revokedTokensMax,
} from '../ports/api-tokens.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import { StoreError } from '../ports/store-error.ts';
import { readWhenChanged } from './read-documents.ts';

const digests = z.array(apiTokenShape.shape.sha256);
const toRevoked = (former: string[]): Record<string, string[]> => ({ [operatorOwner]: former });

const tokensShape = z.strictObject({
  formatVersion: z.literal(1),
  tokens: z.array(apiTokenShape),
  /** The digests of those that were revoked, oldest first, by their factories; earlier, in one list. */
  revoked: z.union([z.record(z.string(), digests), digests.transform(toRevoked)]).default({}),
});
/** The document with all API tokens. */
export const tokensDocument: StoredDocument<z.output<typeof tokensShape>> = {
  kind: 'tokens',
  shape: tokensShape,
  whenMissing: { formatVersion: 1, tokens: [], revoked: {} },
};

/** The API tokens, all in one document. */
export function openApiTokens(documents: Pick<Documents, 'read' | 'change'>, now: () => Date): ApiTokens {
  const list = async () => (await documents.read(tokensDocument)).tokens;
  const byDigest = ({ tokens, revoked }: z.output<typeof tokensShape>) => ({
    tokens: new Map(tokens.map(token => [token.sha256, token])),
    revoked: new Set(Object.values(revoked).flat()),
  });
  const readByDigest = readWhenChanged(documents, tokensDocument, byDigest);
  const change = async (change: (tokens: readonly ApiToken[]) => ApiToken[]) => {
    await documents.change(tokensDocument, async stored => ({
      next: { ...stored, tokens: change(stored.tokens) },
      result: undefined,
    }));
  };
  return {
    create: async token => {
      requireTokenName(token.name);
      await change(tokens => {
        if (tokens.some(({ name, factory }) => name === token.name && factory === token.factory)) {
          throw new StoreError('token-taken', `the API token ${token.name} already exists`);
        }
        const owners = tokens.map(({ factory }) => factory ?? operatorOwner);
        if (!hasRoom(apiTokensQuota, owners, token.factory ?? operatorOwner)) {
          throw new StoreError(
            'token-invalid',
            `API token limit reached (${apiTokensQuota.all}, and ${apiTokensQuota.share} for each factory); revoke tokens that are no longer used`,
          );
        }
        return [...tokens, { expiresAt: null, ...token, createdAt: now().toISOString(), lastUsedAt: null }];
      });
    },
    revoke: async sha256 => {
      await documents.change(tokensDocument, async stored => {
        const gone = stored.tokens.find(token => token.sha256 === sha256);
        if (!gone) throw new StoreError('token-unknown', 'there is no such API token');
        const owner = gone.factory ?? operatorOwner;
        const ofOwner = [...(stored.revoked[owner] ?? []), gone.sha256].slice(-revokedTokensMax);
        const tokens = stored.tokens.filter(token => token !== gone);
        return {
          next: { ...stored, tokens, revoked: { ...stored.revoked, [owner]: ofOwner } },
          result: undefined,
        };
      });
    },
    wasRevoked: async sha256 => (await readByDigest()).revoked.has(sha256),
    list,
    find: async sha256 => (await readByDigest()).tokens.get(sha256),
    recordUses: uses =>
      change(tokens =>
        tokens.map(token => {
          const at = uses.get(token.sha256);
          return at ? { ...token, lastUsedAt: at.toISOString() } : token;
        }),
      ),
  };
}
