import proxyAddr from 'proxy-addr';
import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { providerUrl } from '../schema/definitions/sender-keys.ts';
import { nameShape, secretNameShape } from '../schema/definitions/value-shapes.ts';
import { deliveryDaysKept } from '../schema/delivery.ts';
import { defaultPorts, toOwnBaseUrl } from '../schema/ingress-url.ts';
import { namePattern } from '../schema/names.ts';
import { parseSecretReference, secretReferenceRule } from '../schema/secret-reference.ts';
import { followedRepositoriesShape } from '../sources/repository/followed-repository.ts';
import { alertSettingsShape } from './alerts/alert-settings.ts';
import { oidcSettingsShape } from './issuers/oidc-settings.ts';
import { isPrivateUrl, signInSettingsShape } from './management/sign-in/sign-in-settings.ts';
import { runSettingsShape } from './runs/run-settings.ts';

const secretShape = z.strictObject({
  name: secretNameShape.describe('Name of the team secret.'),
  from: z
    .string()
    .superRefine((text, context) => {
      if (parseSecretReference(text)) return;
      // The text could be the secret itself, so the message does not quote it.
      const hint = `use ${secretReferenceRule}`;
      addMistake(context, [], 'this is not a reference to a secret', { code: 'definition/value', hint });
    })
    .describe(
      'Where the value is kept: env:NAME, file:/absolute/path, or exec: and a command that prints it, run without a shell.',
    ),
  factories: z
    .array(nameShape)
    .describe('The factories that may use it; none for a secret that only alerts are signed with.'),
});

/** The key `secrets` of the daemon's configuration file. */
const secretSettingsShape = z
  .array(secretShape)
  .default([])
  .superRefine((secrets, context) => {
    for (const [index, { name }] of secrets.entries()) {
      if (secrets.findIndex(other => other.name === name) === index) continue;
      const message = `the team secret ${name} is declared twice`;
      addMistake(context, [index, 'name'], message, { code: 'definition/value', hint: 'remove one of them' });
    }
  });

/** @limit Largest request body, in bytes (256 KB), as the specification of the service says. */
const bodyBytesMax = 262_144;
/** @limit Largest body size that an operator can set, in bytes: a body is held in memory until it is on disk. */
const bodyBytesSettingMax = 16 * 1024 * 1024;
/** @limit Authenticated deliveries per minute and webhook, as the specification of the service says. */
const deliveriesPerMinute = 60;
/** @limit Failed authentication attempts per minute, webhook and client address (IPv6: /64): guessing stops, and other addresses are untouched. */
const failedAuthPerMinute = 30;
/** @limit Unverified requests per minute and webhook that are all logged; beyond it, only a sample is, so that a flood cannot fill the log. */
const failedAuthPerMinuteTotal = 300;
/** @limit Newest deliveries of each webhook that are always kept, as the specification of the service says. */
const deliveriesKept = 50;
/** @limit Requests to the management API per minute, of each API token or person, and of each client address (IPv6: /64) without a valid one: a dashboard in use sends a few dozen. */
const apiRequestsPerMinute = 600;
/** @limit Time for one whole request, headers and body, in ms: a slower sender only occupies a connection. */
export const requestMs = 10_000;
/** @limit Longest time for one whole request that an operator can set, in seconds: a day; a longer one is probably a mistake. */
const requestSecondsMax = 86_400;
/** @limit Most open connections of one server: each costs up to 40 KB of memory. */
export const connectionsMax = 10_000;

/** @limit Longest time that an operator can let the ingress accept deliveries after a stop signal, in seconds: proxies notice within seconds, and service managers kill what takes longer. */
const stopDelaySecondsMax = 60;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const port = z.int().min(0).max(65_535);
const count = z.int().min(1);
const httpUrl = z.url({ protocol: /^https?$/ }).meta({ pattern: '^https?://' });

const proxy = z.string().superRefine((text, context) => {
  if (isProxy(text)) return;
  addMistake(context, [], 'invalid proxy address', {
    code: 'definition/value',
    hint: 'write an IP address, a subnet such as 10.0.0.0/8, or loopback',
  });
});

function isProxy(text: string): boolean {
  try {
    proxyAddr.compile(text);
    return true;
  } catch {
    return false;
  }
}

const limitsShape = z.strictObject({
  deliveriesPerMinute: count
    .default(deliveriesPerMinute)
    .describe('Authenticated deliveries per minute and webhook.'),
  failedAuthPerMinute: count
    .default(failedAuthPerMinute)
    .describe('Failed authentication attempts per minute, webhook and client address.'),
  failedAuthPerMinuteTotal: count
    .default(failedAuthPerMinuteTotal)
    .describe('Unverified requests per minute and webhook that are all logged; beyond it, only a sample is.'),
  bodyBytes: count
    .max(bodyBytesSettingMax)
    .default(bodyBytesMax)
    .describe('Maximum size of a request body, in bytes.'),
  apiRequestsPerMinute: count
    .default(apiRequestsPerMinute)
    .describe(
      'Requests to the management API per minute, of each API token or person, and of each client address without a valid one.',
    ),
  requestSeconds: z
    .number()
    .positive()
    .max(requestSecondsMax)
    .default(requestMs / 1_000)
    .describe('Time limit for a whole request, in seconds.'),
  connections: count.default(connectionsMax).describe('Maximum number of open connections.'),
});

const isWebhookKey = (key: string) => {
  const names = key.split('/');
  return names.length <= 2 && names.every(name => namePattern.test(name));
};

const webhookLimits = z.strictObject({
  deliveriesPerMinute: count.describe(
    'Authenticated deliveries per minute, instead of `limits.deliveriesPerMinute`.',
  ),
});

/** The key `senders` of the daemon's configuration file. */
const sendersShape = z.strictObject({
  urls: z
    .array(providerUrl)
    .default([])
    .describe(
      'Addresses of self-managed providers that a definition may name: their API gets the credential. They may be private, or plain http.',
    ),
});

const retentionShape = z.strictObject({
  deliveries: z
    .int()
    .min(deliveriesKept)
    .default(deliveriesKept)
    .describe('Number of newest deliveries to keep of each webhook.'),
  days: z
    .int()
    .min(deliveryDaysKept)
    .default(deliveryDaysKept)
    .describe('Number of days to keep every delivery.'),
});

const tracingShape = z.strictObject({
  endpoint: httpUrl
    .optional()
    .describe(
      'URL that spans are posted to (OTLP over HTTP), such as http://localhost:4318/v1/traces; by default, the URL in the variables OTEL_EXPORTER_OTLP_….',
    ),
  sampleRatio: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of the traces beginning here that are recorded, from 0 to 1.'),
  trustSenders: z
    .array(proxy)
    .default([])
    .describe('Addresses or subnets of senders whose traceparent header is continued.'),
});

/** The daemon's configuration file. Each key has a default. */
export const settingsShape = z
  .strictObject({
    host: z.string().default('127.0.0.1').describe('Address that the ingress listens on.'),
    port: port.default(defaultPorts.ingress).describe('Port of the ingress; 0 picks a free port.'),
    managementPort: port
      .default(defaultPorts.management)
      .describe(
        'Port of the dashboard, management API, health and metrics, on loopback; 0 picks a free port.',
      ),
    baseUrl: httpUrl
      .transform(toOwnBaseUrl)
      .optional()
      .describe(
        'Public URL of the ingress as senders use it; required behind a proxy for schemes that sign the URL.',
      ),
    managementUrl: httpUrl
      .optional()
      .describe('Public URL of the management port behind a proxy, for the dashboard and its API.'),
    trustProxies: z
      .array(proxy)
      .default([])
      .describe('Addresses or subnets of proxies whose X-Forwarded-For header is trusted.'),
    stopDelaySeconds: z
      .number()
      .min(0)
      .max(stopDelaySecondsMax)
      .default(0)
      .describe(
        'Time for which the ingress still accepts deliveries after a stop signal, while /readyz answers 503, in seconds; for proxies that check it.',
      ),
    logLevel: z.enum(logLevels).default('info').describe('Minimum log level.'),
    limits: limitsShape.prefault({}).describe('Limits of the ingress and the management API.'),
    webhooks: z
      .record(z.string(), webhookLimits)
      .superRefine((all, context) => {
        for (const key of Object.keys(all).filter(key => !isWebhookKey(key)))
          addMistake(context, [key], `"${key}" does not name a webhook`, {
            ...{ code: 'definition/value', hint: 'write NAME or FACTORY/NAME', atKey: true },
          });
      })
      .default({})
      .describe(
        'Limits of single webhooks, by NAME, or by FACTORY/NAME if several factories have that name.',
      ),
    retention: retentionShape
      .prefault({})
      .describe('How long deliveries are kept. A delivery is removed only when neither setting keeps it.'),
    tracing: tracingShape.optional().describe('Traces with OpenTelemetry; off without this key.'),
    signIn: signInSettingsShape
      .optional()
      .describe('Sign-in of people to the dashboard by OpenID Connect; needs managementUrl.'),
    oidc: oidcSettingsShape
      .prefault({})
      .describe('Tokens of OpenID Connect issuers, for webhooks with authMode oidc and the management API.'),
    runs: runSettingsShape.prefault({}).describe('How runs are executed.'),
    senders: sendersShape
      .prefault({})
      .describe('The providers that are asked about the hooks of webhooks with a sender.'),
    alerts: alertSettingsShape.describe(
      'Receivers of alerts: of webhooks that are quiet or failing, runs that fail, branches that are not followed, and a log that cannot be written.',
    ),
    secrets: secretSettingsShape.describe(
      'Team secrets whose values are kept elsewhere. They are stored when the daemon starts, and replace team secrets of the same names.',
    ),
    repositories: followedRepositoriesShape.describe(
      'Repositories that factories follow: the tip of the branch is what is applied.',
    ),
  })
  .superRefine(({ oidc, managementUrl }, context) => {
    for (const [index, { audience }] of oidc.management.entries()) {
      if (audience !== undefined || managementUrl !== undefined) continue;
      addMistake(context, ['oidc', 'management', index], 'the audience is missing', {
        code: 'definition/value',
        hint: 'add audience:, or set managementUrl, which is the default',
      });
    }
  })
  .superRefine(({ signIn, managementUrl }, context) => {
    if (!signIn || (managementUrl !== undefined && isPrivateUrl(managementUrl))) return;
    addMistake(context, ['managementUrl'], 'signIn needs a managementUrl with https', {
      code: 'definition/value',
      hint: 'set it to the URL that browsers use; http works only on this machine',
    });
  });

export type DaemonSettings = z.output<typeof settingsShape>;
