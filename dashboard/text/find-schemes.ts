import { matchesWords } from '../../schema/clients/describe.ts';
import { splitProvider } from './sender-labels.ts';

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
