import { didYouMean, joinWithOr } from '../text/suggestion.ts';

/** @limit Longest issuer in a definition, in characters: the longest known ones have about 100. */
export const issuerCharsMax = 500;

/** An issuer of OpenID Connect tokens that hookmill knows. */
interface KnownIssuer {
  /** The issuer's URL. What is in braces differs for each customer, so that the preset needs the whole URL. */
  readonly url: string;
  /** Further values of `iss` in its tokens. */
  readonly otherNames?: readonly string[];
  /** Claims that pin a caller, by themselves or together. Everybody can get a token with any value of other claims. */
  readonly pins: readonly (readonly string[])[];
}

// For each: the page that documents its claims, and the day on which it was compared, if it was.
const knownIssuers = {
  // docs.github.com/en/actions/reference/security/oidc, 2026-11-25
  'github-actions': {
    url: 'https://token.actions.githubusercontent.com',
    pins: [
      ['repository'],
      ['repository_id'],
      ['repository_owner'],
      ['repository_owner_id'],
      // Anybody may call a public reusable workflow, so job_workflow_ref pins nobody.
      ['sub'],
    ],
  },
  // docs.gitlab.com/ci/secrets/id_token_authentication, 2026-11-25
  gitlab: {
    url: 'https://gitlab.com',
    pins: [['project_path'], ['project_id'], ['namespace_path'], ['namespace_id'], ['sub']],
  },
  // cloud.google.com/pubsub/docs/authenticate-push-subscriptions, and
  // developers.google.com/identity/openid-connect/openid-connect for the second name, 2026-11-25
  google: {
    url: 'https://accounts.google.com',
    otherNames: ['accounts.google.com'],
    pins: [['email', 'email_verified'], ['sub']],
  },
  // buildkite.com/docs/agent/v3/cli-oidc, and the example in forum.buildkite.community/t/4347, 2026-11-25. Organizations
  // choose the slugs of their pipelines, so that pipeline_slug pins nobody.
  buildkite: {
    url: 'https://agent.buildkite.com',
    pins: [['organization_slug'], ['organization_id'], ['sub']],
  },
  // circleci.com/docs/openid-connect-tokens, 2026-11-25
  circleci: {
    url: 'https://oidc.circleci.com/org/{ORGANIZATION_ID}',
    pins: [['oidc.circleci.com/project-id'], ['sub']],
  },
  // learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference, from memory: tokens of v2.0 have
  // azp, tokens of v1.0 have appid.
  azure: {
    url: 'https://login.microsoftonline.com/{TENANT_ID}/v2.0',
    pins: [['azp'], ['appid'], ['oid'], ['sub']],
  },
} as const satisfies Readonly<Record<string, KnownIssuer>>;

const presets: ReadonlyMap<string, KnownIssuer> = new Map(Object.entries(knownIssuers));
export const issuerPresets = [...presets.keys()];

/** Says what is wrong with an issuer in a definition or a setting; undefined if it is valid. */
export function findIssuerMistake(
  text: string,
): { readonly message: string; readonly hint: string } | undefined {
  const known = presets.get(text);
  if (known?.url.includes('{')) {
    const message = `${text} has an issuer for each customer`;
    return { message, hint: `write the URL of yours: ${known.url.replaceAll(/[{}]/g, '')}` };
  }
  if (known || isIssuerUrl(text)) return undefined;
  const hint =
    didYouMean(text, issuerPresets) ??
    `write an https URL without query, exactly as in the claim iss, or ${joinWithOr(issuerPresets)}`;
  return { message: 'this is not an issuer', hint };
}

/** Whether the text is the URL of an issuer (OpenID Connect Core, section 2). The daemon decides about plain http. */
function isIssuerUrl(text: string): boolean {
  if (text.length > issuerCharsMax || !URL.canParse(text) || /[\s?#]/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** The URL of the issuer that a definition names. */
export function resolveIssuer(issuer: string): string {
  return presets.get(issuer)?.url ?? issuer;
}

/** The values of `iss` in the tokens of an issuer that a definition names. */
export function listIssuerNames(issuer: string): readonly string[] {
  const url = resolveIssuer(issuer);
  return [url, ...(findKnownIssuer(url)?.otherNames ?? [])];
}

/** The sets of claims that pin a caller at the issuer; undefined if the issuer is not known. */
export function findPins(issuer: string): KnownIssuer['pins'] | undefined {
  return findKnownIssuer(resolveIssuer(issuer))?.pins;
}

/** Azure signs for the same applications under two URLs. */
const azureV1 = /^https:\/\/sts\.windows\.net\/[^/]+\/$/;

function findKnownIssuer(url: string): KnownIssuer | undefined {
  if (azureV1.test(url)) return knownIssuers.azure;
  return [...presets.values()].find(known => {
    const [start = '', end = ''] = known.url.split(/\{\w+\}/);
    if (!known.url.includes('{')) return known.url === url;
    const middle = url.slice(start.length, url.length - end.length);
    return url.startsWith(start) && url.endsWith(end) && middle !== '' && !middle.includes('/');
  });
}
