import { findPermission } from '../../schema/grant.ts';
import { listAudit } from '../access/audit.ts';
import { listFactorySecrets } from '../access/secrets.ts';
import { issueToken, listTokens, revokeToken } from '../access/tokens.ts';
import type { HandlersOf } from './handler.ts';

/** Handles requests for team secrets, API tokens and the audit log. */
export const accessHandlers: HandlersOf<'access'> = {
  listSecrets: async ({ factory }, { permission }) => ({
    body: { secrets: await listFactorySecrets(factory, permission) },
  }),
  listTokens: async (deps, { params: { factory } }) => ({
    body: { tokens: await listTokens(deps.store, factory) },
  }),
  createToken: async ({ factory }, { body, grants, expiresAt }) => ({
    body: await issueToken(factory, body, { grants, expiresAt }),
    changed: `${body.name} (${body.permission})`,
  }),
  revokeToken: async ({ factory }, { params: { token }, grants, expiresAt }) => {
    await revokeToken(factory, token, { grants, expiresAt });
    return { body: undefined };
  },
  listAudit: async (deps, { params: { factory }, query, grants }) => ({
    body: await listAudit(deps.store, {
      factory,
      withAll: findPermission(grants, null) === 'manage',
      ...query,
    }),
  }),
};
