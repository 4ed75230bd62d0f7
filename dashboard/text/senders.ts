import { matchesWords } from '../../schema/clients/describe.ts';
import type { ListedWebhook } from '../api-answers.ts';

const authModeLabels: Readonly<Record<ListedWebhook['authMode'], string>> = {
  token: 'Bearer token',
  url_token: 'Token in the URL',
  signature: 'Signature',
  oidc: 'OpenID Connect token',
};

type Sender = Pick<ListedWebhook, 'authMode' | 'signatureScheme' | 'provider'>;

/** Who delivers: `Stripe`; of a sender without a scheme, how it authenticates: `Bearer token`. */
export function getSenderName(sender: Sender): string {
  return splitSender(sender)[0];
}

/** The same, and how a provider signs: `Stripe, signature`, `GitLab, secret token`. */
export function getSenderLine(sender: Sender): string {
  const [name, kind = 'signature'] = splitSender(sender);
  return sender.authMode === 'signature' ? `${name}, ${kind}` : name;
}

function splitSender({ authMode, signatureScheme, provider }: Sender): ReturnType<typeof splitProvider> {
  if (authMode !== 'signature' || signatureScheme === null) return [authModeLabels[authMode], undefined];
  // This daemon does not know a scheme that another version applied.
  const unknown = typeof signatureScheme === 'string' ? signatureScheme : 'Custom HMAC';
  return splitProvider(provider ?? unknown);
}

/** Splits the name of a provider from what tells two schemes of it apart: `GitLab (secret token)`. */
export function splitProvider(label: string): readonly [provider: string, kind: string | undefined] {
  const [, provider, kind] = /^(.+?) \((.+)\)$/.exec(label) ?? [];
  return provider === undefined ? [label, undefined] : [provider, kind];
}

interface Scheme {
  readonly id: string;
  readonly provider: string;
  readonly kind: string;
}

/** Other names by which people look for a provider, for the ID of its scheme. */
const otherNames: Readonly<Record<string, string>> = {
  forgejo: 'git codeberg',
  gogs: 'git',
  bitbucket: 'git atlassian',
  'azure-devops': 'git microsoft tfs',
  jira: 'atlassian',
  trello: 'atlassian',
  'terraform-cloud': 'hashicorp tfe',
  'standard-webhooks': 'whsec',
  'semaphore-ci': 'semaphoreci',
  sonarqube: 'sonarcloud sonar',
  'mongodb-atlas': 'mongo',
  meta: 'facebook',
  sendgrid: 'twilio mail',
  mandrill: 'mail',
  resend: 'mail',
  pagerduty: 'on-call pd',
  grafana: 'prometheus alertmanager',
  openai: 'chatgpt gpt',
  discourse: 'forum',
};

/** The providers that people choose most. */
export const oftenUsed: readonly string[] = [
  ...['github', 'gitlab-token', 'stripe', 'sentry', 'pagerduty', 'slack', 'linear', 'shopify'],
  ...['jira', 'circleci', 'svix', 'standard-webhooks'],
];

/** Finds schemes by their name, their kind and other names. Those whose names begin with what was typed come first. */
export function findSchemes<S extends Scheme>(schemes: readonly S[], typed: string): S[] {
  const sought = typed.trim().toLowerCase();
  const rank = ({ provider }: Scheme) => {
    const at = splitProvider(provider)[0].toLowerCase().indexOf(sought);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  return schemes
    .filter(({ id, provider, kind }) =>
      matchesWords(`${id} ${provider} ${kind} ${otherNames[id] ?? ''}`, sought),
    )
    .sort((a, b) => rank(a) - rank(b));
}
