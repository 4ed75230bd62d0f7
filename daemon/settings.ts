import proxyAddr from 'proxy-addr';
import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { type ParsedFile, parseFile } from '../schema/definitions/parse-file.ts';
import { followedRepositoriesShape } from '../sources/repository/followed-repository.ts';

/** @limit Largest request body, in bytes (256 KB), as the specification of the service says. */
export const bodyBytesMax = 262_144;
/** @limit Authenticated deliveries per minute and webhook, as the specification of the service says. */
const deliveriesPerMinute = 60;
/** @limit Failed authentication attempts per minute, webhook and client address: guessing stops, and other addresses are untouched. */
const failedAuthPerMinute = 30;
/** @limit Failed authentication attempts per minute and webhook over all addresses; failures beyond it are not logged, so that a flood cannot fill the log. */
const failedAuthPerMinuteTotal = 300;
/** @limit Newest deliveries of each webhook that are always kept, as the specification of the service says. */
const deliveriesKept = 50;
/** @limit Age in days below which every delivery is kept, as the specification of the service says. */
const deliveryDaysKept = 7;
/** @limit Time for one whole request, headers and body, in ms: a slower sender only occupies a connection. */
export const requestMs = 10_000;
/** @limit Most open connections of one server: each costs some 10 KB of memory. */
export const connectionsMax = 10_000;
/** @limit Runs executed at the same time: each may be a whole agent. */
const runsConcurrent = 4;
/** @limit Attempts at a run before it counts as failed: most passing faults are over by the third. */
const runAttempts = 3;
/** @limit Wait before the second attempt at a run, in seconds; it doubles for each further attempt. */
const backOffFirstSeconds = 10;
/** @limit Longest wait between two attempts at a run, in seconds: a repaired receiver is tried again within ten minutes. */
const backOffSecondsMax = 600;
/** @limit Time limit for one attempt by a command, in seconds: it may be an agent at work. */
const runCommandSeconds = 600;
/** @limit Time limit for one attempt by HTTP, in seconds: the receiver should answer 202 and work later. */
const runRequestSeconds = 30;
/** @limit Longest time limit for one attempt by HTTP, in seconds: `fetch` itself gives up after it. */
const runRequestSecondsMax = 300;
/** @limit Output kept of one attempt at a run, in bytes: enough for a log that a person reads. */
const runOutputBytes = 1024 * 1024;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const port = z.int().min(0).max(65_535);
const count = z.int().min(1);
const seconds = z.number().positive().max(86_400);
const outputBytes = count
  .max(64 * 1024 * 1024)
  .default(runOutputBytes)
  .describe('Bytes of output that are kept of one attempt.');
/** A value that passes `test`, or a problem with a hint. */
function checked(test: (text: string) => boolean, message: string, hint: string) {
  return z.string().superRefine((text, context) => {
    if (!test(text)) addMistake(context, [], message, { code: 'definition/value', hint });
  });
}

const isVariableName = (text: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);

const argv = z.array(z.string()).superRefine(([program = ''], context) => {
  if (/^(\/.|[^/]+$)/.test(program)) return;
  addMistake(context, [], 'argv begins with a program: an absolute path, or a name to be found on PATH', {
    code: 'definition/value',
    hint: 'the command runs in a directory of its own, where a relative path leads nowhere',
  });
});
const proxy = checked(
  isProxy,
  'not the address of a proxy',
  'write an address, a subnet as in 10.0.0.0/8, or loopback',
);
const passedVariable = checked(
  text => isVariableName(text) && !text.startsWith('HOOKMILL_'),
  'not the name of a variable that a command may get',
  "write names without values; HOOKMILL_ variables are the daemon's own, its key among them",
);
const tokenVariable = checked(
  isVariableName,
  'not the name of a variable',
  "name the variable of the daemon's environment that holds the token",
);
const receiverUrl = checked(
  isReceiverUrl,
  'not the URL of a receiver',
  'write http:// or https://, without a user or password; tokenFromEnvironment names a token',
);

function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const directoryRunner = z.strictObject({ kind: z.literal('directory') });

const commandRunner = z.strictObject({
  kind: z.literal('command'),
  argv: argv.describe('The program and its arguments. No shell reads them.'),
  environment: z
    .array(passedVariable)
    .default([])
    .describe("Names of the daemon's own variables that the command gets too."),
  timeLimitSeconds: seconds.default(runCommandSeconds).describe('Seconds that one attempt may take.'),
  outputBytes,
});

const httpRunner = z.strictObject({
  kind: z.literal('http'),
  url: receiverUrl.describe('Where runs are posted to.'),
  tokenFromEnvironment: tokenVariable
    .optional()
    .describe("Name of the daemon's variable whose value is sent as the bearer token."),
  timeLimitSeconds: seconds
    .max(runRequestSecondsMax)
    .default(runRequestSeconds)
    .describe('Seconds that one attempt may take.'),
  outputBytes,
});

/** What stands in the daemon's configuration file. Each key has a default. */
export const settingsShape = z.strictObject({
  host: z.string().default('127.0.0.1').describe('Address that the ingress listens on.'),
  port: port.default(8080).describe('Port of the ingress; 0 takes a free one.'),
  managementPort: port.default(8081).describe('Port of health and metrics, on loopback; 0 takes a free one.'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .meta({ pattern: '^https?://' })
    .transform(url => url.replace(/\/+$/, ''))
    .optional()
    .describe(
      'Public URL of the ingress as senders use it; needed behind a proxy for schemes that sign the URL.',
    ),
  managementUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('URL under which a proxy makes the management port known, for the dashboard and its API.'),
  trustProxies: z
    .array(proxy)
    .default([])
    .describe('Addresses or subnets of proxies whose X-Forwarded-For is believed.'),
  logLevel: z.enum(logLevels).default('info').describe('Least severe level that is logged.'),
  limits: z
    .strictObject({
      deliveriesPerMinute: count
        .default(deliveriesPerMinute)
        .describe('Authenticated deliveries a minute and webhook.'),
      failedAuthPerMinute: count
        .default(failedAuthPerMinute)
        .describe('Failed attempts a minute, webhook and client address.'),
      failedAuthPerMinuteTotal: count
        .default(failedAuthPerMinuteTotal)
        .describe('Failed attempts a minute and webhook over all addresses.'),
      bodyBytes: count
        .max(16 * 1024 * 1024)
        .default(bodyBytesMax)
        .describe('Bytes of a request body.'),
      requestSeconds: seconds
        .default(requestMs / 1_000)
        .describe('Seconds that a sender may take over a whole request.'),
      connections: count.default(connectionsMax).describe('Open connections.'),
    })
    .prefault({})
    .describe('What the ingress lets through.'),
  retention: z
    .strictObject({
      deliveries: z
        .int()
        .min(deliveriesKept)
        .default(deliveriesKept)
        .describe('Newest deliveries of a webhook that stay.'),
      days: z
        .int()
        .min(deliveryDaysKept)
        .default(deliveryDaysKept)
        .describe('Days for which every delivery stays.'),
    })
    .prefault({})
    .describe('What the delivery log keeps; a delivery stays as long as either says so.'),
  runs: z
    .strictObject({
      runner: z
        .discriminatedUnion('kind', [directoryRunner, commandRunner, httpRunner])
        .prefault({ kind: 'directory' })
        .describe('What executes runs.'),
      concurrency: count.max(1_000).default(runsConcurrent).describe('Runs executed at the same time.'),
      attempts: count.max(100).default(runAttempts).describe('Attempts at a run before it has failed.'),
      backOff: z
        .strictObject({
          firstSeconds: seconds
            .default(backOffFirstSeconds)
            .describe('Seconds before the second attempt, doubled for each further one.'),
          maxSeconds: seconds.default(backOffSecondsMax).describe('Most seconds between two attempts.'),
        })
        .prefault({})
        .describe('How long a failed attempt waits for the next; up to half is taken off at random.'),
    })
    .prefault({})
    .describe('How runs are executed.'),
  repositories: followedRepositoriesShape.describe(
    'Branches that factories follow: their tips are the applied states.',
  ),
});

export type DaemonSettings = z.output<typeof settingsShape>;
export type RunSettings = DaemonSettings['runs'];
export type RunnerSettings = RunSettings['runner'];
export type CommandRunnerSettings = z.output<typeof commandRunner>;
export type HttpRunnerSettings = z.output<typeof httpRunner>;

export const defaultSettings: DaemonSettings = settingsShape.parse({});

export function parseSettings(file: string, bytes: Uint8Array): ParsedFile<DaemonSettings> {
  return parseFile(settingsShape, file, bytes);
}

function isProxy(text: string): boolean {
  try {
    proxyAddr.compile(text);
    return true;
  } catch {
    return false;
  }
}

/** The settings ask for what is not there. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
