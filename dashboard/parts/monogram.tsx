/** The usual short form of a provider, and a hue near the colour of its brand; null: its brand has no colour. */
type Mark = readonly [letters: string, hue: number | null];

const marks: Readonly<Record<string, Mark>> = {
  github: ['GH', null],
  'gitlab-token': ['GL', 48],
  'gitlab-signing-token': ['GL', 48],
  gitea: ['Gt', 140],
  forgejo: ['Fo', 30],
  gogs: ['Go', 200],
  bitbucket: ['Bb', 255],
  'azure-devops': ['AD', 250],
  stripe: ['St', 285],
  paddle: ['Pa', 95],
  lemonsqueezy: ['LS', 290],
  razorpay: ['Ra', 255],
  square: ['Sq', null],
  mollie: ['Mo', 265],
  gocardless: ['GC', 230],
  polar: ['Po', 260],
  sentry: ['Se', 320],
  pagerduty: ['PD', 150],
  'incident-io': ['II', 35],
  rootly: ['Ro', 295],
  grafana: ['Gr', 45],
  'grafana-timestamp': ['Gr', 45],
  checkly: ['Ck', 255],
  slack: ['Sl', 340],
  'slack-forms': ['Sl', 340],
  discord: ['Di', 275],
  linear: ['Li', 270],
  jira: ['Ji', 258],
  asana: ['As', 15],
  clickup: ['CU', 300],
  notion: ['No', null],
  trello: ['Tr', 250],
  shopify: ['Sh', 135],
  circleci: ['Ci', 160],
  buildkite: ['Bk', 155],
  vercel: ['Ve', null],
  heroku: ['He', 295],
  render: ['Re', 285],
  'terraform-cloud': ['TF', 290],
  sendgrid: ['SG', 230],
  twilio: ['Tw', 20],
  zendesk: ['Ze', 170],
  hubspot: ['HS', 40],
  openai: ['AI', null],
  'standard-webhooks': ['SW', 80],
  svix: ['Sv', 250],
};

/** The chroma of a sender of one's own: nearly grey. */
const ownChroma = 0.03;
const ownHue = 230;

interface Properties {
  /** The ID of the signature scheme; null: a sender of one's own, with its name. */
  readonly scheme: string | null;
  readonly name: string;
  readonly size?: 's' | 'm' | 'l';
}

/** Two letters on a hue that stand for a provider, the same everywhere. A name beside it says the same. */
export function Monogram({ scheme, name, size = 's' }: Properties) {
  const [letters, hue, chroma] = findMark(scheme, name);
  const style = { '--h': hue, ...(chroma !== undefined && { '--c': chroma }) };
  return (
    <span class={`tile ${size}`} style={style} aria-hidden="true">
      {letters}
    </span>
  );
}

function findMark(scheme: string | null, name: string): readonly [string, number, chroma?: number] {
  if (scheme === null) return [twoLetters(name).toLowerCase(), ownHue, ownChroma];
  const mark = Object.hasOwn(marks, scheme) ? marks[scheme] : undefined;
  if (!mark) return [twoLetters(scheme), hash(scheme) % 360];
  const [letters, hue] = mark;
  return hue === null ? [letters, 0, 0] : [letters, hue];
}

function twoLetters(name: string): string {
  const letters = name.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return `${letters.charAt(0).toUpperCase()}${letters.charAt(1)}`;
}

function hash(text: string): number {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return sum;
}

/** The scheme by which a webhook is drawn. */
export function schemeOf(webhook: { readonly signatureScheme: unknown }): string | null {
  return typeof webhook.signatureScheme === 'string' ? webhook.signatureScheme : null;
}
