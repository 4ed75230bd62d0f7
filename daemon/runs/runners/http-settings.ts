import { z } from 'zod';
import { receiverUrl } from '../../receivers/receiver-url.ts';
import { secretVariable } from '../../secret-variable.ts';
import { outputBytes, seconds } from './attempt-bounds.ts';

/** @limit Time limit for one attempt by HTTP, in seconds: the receiver should answer 202 and work later. */
const runRequestSeconds = 30;
/** @limit Longest time limit for one attempt by HTTP, in seconds: `fetch` itself gives up after it. */
const runRequestSecondsMax = 300;
/** @limit Time for a receiver to report the end of a run that it has taken on, in seconds: it may be an agent at work. */
const runReportSeconds = 3_600;

const callbackShape = z.strictObject({
  url: receiverUrl
    .transform(url => url.replace(/\/+$/, ''))
    .optional()
    .describe('URL of the ingress as the receiver reaches it; by default, the URL for senders.'),
  timeLimitSeconds: seconds
    .default(runReportSeconds)
    .describe('Time limit for an attempt whose receiver goes on with it, in seconds.'),
});

/** The settings of the runner `http`. */
export const httpRunnerShape = z.strictObject({
  kind: z.literal('http'),
  url: receiverUrl.describe('URL that runs are posted to.'),
  tokenFromEnvironment: secretVariable
    .optional()
    .describe("Name of a variable in the daemon's environment whose value is sent as the bearer token."),
  timeLimitSeconds: seconds
    .max(runRequestSecondsMax)
    .default(runRequestSeconds)
    .describe('Time limit for one attempt, in seconds.'),
  callback: callbackShape
    .optional()
    .describe('Lets the receiver answer 202, go on, and report the end later; off without this key.'),
  outputBytes,
});

export type HttpRunnerSettings = z.output<typeof httpRunnerShape>;
