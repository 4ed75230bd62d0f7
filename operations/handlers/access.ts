import { findPermission } from '../../schema/grant.ts';
import { listAudit } from '../access/audit.ts';
import { listFactorySecrets } from '../access/secrets.ts';
import { issueToken, listTokens, revokeToken } from '../access/tokens.ts';
import { type HandlersOf, openFactory } from './handler.ts';

/** Handles requests for team secrets, API tokens and the audit log. */
export const accessHandlers: HandlersOf<'access'> = {
  listSecrets: async (deps, { params: { factory }, permission }) => ({
    body: { secrets: await listFactorySecrets(openFactory(deps, factory), permission) },
  }),
  listTokens: async (deps, { params: { factory } }) => ({
    body: { tokens: await listTokens(deps.store, factory) },
  }),
  createToken: async (deps, { params: { factory }, body, grants, expiresAt }) => ({
    body: await issueToken(openFactory(deps, factory), body, { grants, expiresAt }),
    changed: `${body.name} (${body.permission})`,
  }),
  revokeToken: async (deps, { params: { factory, token }, grants, expiresAt }) => {
    await revokeToken(openFactory(deps, factory), token, { grants, expiresAt });
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
