import { hash } from 'node:crypto';
import * as client from 'openid-client';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { StoredPerson } from '../../../store/ports/stored-sessions.ts';
import type { SignInSettings } from './sign-in-settings.ts';

/** @limit Time in which the sign-in provider must answer each request, in seconds: a person waits for it. */
const providerSeconds = 5;
/** @limit Longest answer of the sign-in provider, in bytes: its metadata and keys have some KB. */
const providerBytesMax = 1024 * 1024;
/** @limit Time for which the metadata of the sign-in provider is used, in ms: it rarely changes, and providers announce it. */
const metadataMs = 60 * 60 * 1000;
/** @limit Longest name that is kept of a person, in characters. */
const personNameCharsMax = 200;
/** @limit Longest subject of a person, in characters, as OpenID Connect Core says (section 2). */
const subjectCharsMax = 255;

/** An OpenID Connect provider at which people sign in. Nothing that it issues is kept. */
export interface SignInProvider {
  /** Returns the URL at which the browser signs in. `attempt` is a secret of this page, for `finish`. */
  begin(attempt: string): Promise<URL>;
  /**
   * Finds the person whom the provider has sent back with this query. Fails with `sign-in-refused`,
   * `provider-unreachable` or `provider-invalid`.
   */
  finish(attempt: string, query: string): Promise<StoredPerson>;
}

export interface ProviderOptions {
  readonly settings: SignInSettings;
  /** The page to which the provider sends the browser back. */
  readonly redirectUrl: URL;
  readonly readClientSecret: () => Promise<string | undefined>;
  readonly nowMs: () => number;
}

/** Opens the provider. Its metadata is fetched when somebody signs in. */
export function openProvider(options: ProviderOptions): SignInProvider {
  const { settings, redirectUrl, nowMs } = options;
  let known: { readonly untilMs: number; readonly configuration: Promise<client.Configuration> } | undefined;
  const discover = async () => {
    if (!known || known.untilMs <= nowMs()) {
      known = { untilMs: nowMs() + metadataMs, configuration: discoverProvider(options) };
    }
    return known.configuration.catch((error: unknown) => {
      known = undefined;
      return toProblem(error, 'provider-invalid');
    });
  };
  return {
    begin: async attempt => {
      const { state, nonce, verifier } = deriveSecrets(attempt);
      const configuration = await discover();
      return client.buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: redirectUrl.href, state, nonce },
        scope: ['openid', ...settings.scopes].join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    finish: async (attempt, query) => {
      const { state, nonce, verifier } = deriveSecrets(attempt);
      const url = new URL(redirectUrl);
      url.search = query;
      try {
        const configuration = await discover();
        const tokens = await client.authorizationCodeGrant(configuration, url, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
          idTokenExpected: true,
        });
        return readPerson(settings, await readClaims(configuration, tokens, settings.groupsClaim));
      } catch (error) {
        return toProblem(error, 'sign-in-refused');
      }
    },
  };
}

/** Derives what ties the provider's answer to the browser that asked, so that nothing has to be stored. */
function deriveSecrets(attempt: string) {
  const derive = (use: string) => hash('sha256', `${use} ${attempt}`, 'base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

async function discoverProvider({
  settings: { issuer, clientId },
  readClientSecret,
}: ProviderOptions): Promise<client.Configuration> {
  const configuration = await client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    async (...request) => {
      const [{ token_endpoint_auth_methods_supported: methods }] = request;
      const secret = await readClientSecret();
      if (secret === undefined) return client.None()(...request);
      // Without the list, a provider takes the secret in the Authorization header.
      const isBasic = methods?.includes('client_secret_basic') ?? true;
      return (isBasic ? client.ClientSecretBasic : client.ClientSecretPost)(secret)(...request);
    },
    {
      timeout: providerSeconds,
      [client.customFetch]: fetchBounded,
      execute: [
        client.enableNonRepudiationChecks,
        ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  const { authorization_endpoint: page } = configuration.serverMetadata();
  const protocols = ['https:', ...(issuer.startsWith('http:') ? ['http:'] : [])];
  if (page === undefined || !protocols.includes(new URL(page).protocol)) {
    throw new Error(`the provider names no page to sign in at: ${page}`);
  }
  return configuration;
}

class ProviderUnreachable extends Error {}

/** Fetches an answer whose size is bounded. The time limit includes its body. */
async function fetchBounded(url: string, options: client.CustomFetchOptions): Promise<Response> {
  try {
    const { body, signal, ...rest } = options;
    const init = { ...rest, body: body ?? null, ...(signal && { signal }) };
    const response = await fetch(url, init as RequestInit);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > providerBytesMax) throw new Error(`the answer has more than ${providerBytesMax} bytes`);
      chunks.push(chunk);
    }
    const { status, headers } = response;
    return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers });
  } catch (cause) {
    throw new ProviderUnreachable(`${new URL(url).origin} did not answer`, { cause });
  }
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Reads the claims of the ID token, and the claims of the UserInfo endpoint if the groups are not among them. */
async function readClaims(
  configuration: client.Configuration,
  tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>,
  groupsClaim: string,
): Promise<Claims> {
  const claims = tokens.claims();
  if (!claims) throw new Error('the provider issued no ID token');
  if (groupsClaim in claims || !configuration.serverMetadata().userinfo_endpoint) return claims;
  return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
}

/** Reads the person, with the groups that the settings name. Fails with `sign-in-refused` if they have none of them. */
function readPerson({ issuer, groupsClaim, grants }: SignInSettings, claims: Claims): StoredPerson {
  const claimed = [claims[groupsClaim]].flat();
  const groups = [...new Set(grants.map(({ group }) => group))].filter(group => claimed.includes(group));
  const { sub: subject, preferred_username, email } = claims;
  const given = [preferred_username, email].find(name => typeof name === 'string' && name !== '');
  const name = String(given ?? subject).slice(0, personNameCharsMax);
  // All people without a subject would be one.
  if (subject.trim() === '') throw new Error('the subject is empty');
  if (subject.length > subjectCharsMax) throw new Error('the subject is too long');
  if (groups.length === 0) {
    const detail = `none of the groups of ${name} may use this dashboard; ask its operator`;
    throw new ApiProblem('sign-in-refused', { detail });
  }
  return { issuer, subject, name, groups };
}

function toProblem(error: unknown, otherwise: 'provider-invalid' | 'sign-in-refused'): never {
  if (error instanceof ApiProblem) throw error;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnreachable)
      throw new ApiProblem('provider-unreachable', {}, { cause: error });
  }
  const isInvalid = error instanceof client.ClientError && invalidCodes.includes(error.code ?? '');
  throw new ApiProblem(isInvalid ? 'provider-invalid' : otherwise, {}, { cause: error });
}

/** The codes of openid-client for answers of the provider that are no answers to what was asked. */
const invalidCodes = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR'];
