import { z } from 'zod';
import { readJson } from '../json/parse-json-text.ts';
import { findReason } from './describe-error.ts';
import { CommandError, UsageError } from './exit-status.ts';

/** @limit Time in which the CI host must issue a token, in ms. */
const issueMs = 10_000;

/** The variable of a CI job from which commands take a token that the host has already issued. */
const idTokenVariable = 'HOOKMILL_ID_TOKEN';

const issuedShape = z.object({ value: z.string().min(1) });

/**
 * Gets the token of the CI job that the command runs in: from the variable, or from GitHub, whose jobs ask for one with the
 * audience (docs.github.com/en/actions/reference/security/oidc, 2026-11-25). The token is never shown. Fails with a CommandError.
 */
export async function getCiToken(
  audience: string,
  environment: NodeJS.ProcessEnv,
  variable: string = idTokenVariable,
): Promise<string> {
  const given = environment[variable]?.trim();
  if (given) return requireSendable(given, variable);
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = environment;
  if (url && bearer && URL.canParse(url)) return askGitHub(new URL(url), bearer, audience);
  const github = 'in GitHub Actions, give the job `permissions: id-token: write`';
  const gitlab = `in GitLab CI, declare ${variable} under id_tokens: with aud: ${audience}`;
  throw new CommandError(`this is no CI job with an OpenID Connect token; ${github}; ${gitlab}`);
}

function requireSendable(token: string, variable: string): string {
  if (/^[\w.-]+$/.test(token)) return token;
  throw new UsageError(`the variable ${variable} does not hold a token (JWT)`);
}

async function askGitHub(url: URL, bearer: string, audience: string): Promise<string> {
  url.searchParams.set('audience', audience);
  try {
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${bearer}`, Accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(issueMs),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const issued = issuedShape.safeParse(readJson(await response.text()));
    if (!issued.success) throw new Error('its answer contains no token');
    return issued.data.value;
  } catch (cause) {
    throw new CommandError(`GitHub did not issue a token for this job: ${findReason(cause)}`);
  }
}
