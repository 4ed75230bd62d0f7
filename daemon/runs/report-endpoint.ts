import http from 'node:http';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { reportLinkMax, reportMessageMax, runReportShape } from '../../schema/run-report.ts';
import { parseJsonBody, permitBody, readBody } from '../http/bodies.ts';
import type { ReportEndpoint } from '../ingress/ingress.ts';
import { type Callbacks, callbackPrefix } from './callbacks.ts';
import type { ReceiverReports } from './receiver-reports.ts';

/** @limit Largest report of a receiver, in bytes: its message and its link fit, however they are escaped. */
const reportBodyBytesMax = 32 * 1024;

interface ReportDeps {
  readonly callbacks: Pick<Callbacks, 'findAttempt'>;
  readonly reports: Pick<ReceiverReports, 'take'>;
  readonly log: Logger;
}

/** Status and text of each answer to a report. All but the first are problems (RFC 9457). */
const answers = {
  recorded: { status: 204, detail: '' },
  unknown: { status: 404, detail: 'There is no attempt to report on at this URL.' },
  method: { status: 405, detail: 'Send reports with POST.' },
  'too-large': { status: 413, detail: `The report has more than ${reportBodyBytesMax} bytes.` },
  unreadable: { status: 400, detail: 'The body ended before it was complete.' },
  invalid: {
    status: 400,
    detail: `Send JSON with state (running, succeeded or failed), and optionally message (at most ${reportMessageMax} characters), link (http or https, at most ${reportLinkMax}), costUsd, inputTokens, outputTokens and turns; it has no other keys.`,
  },
  over: { status: 410, detail: 'This attempt has ended, or another one has begun. Stop working on it.' },
  'too-many': { status: 429, detail: 'Too many reports of this attempt. Report only its end.' },
  unavailable: { status: 503, detail: 'The report could not be recorded. Send it again.' },
} as const;

/** Opens the part of the ingress that takes the reports of receivers. */
export function openReportEndpoint(deps: ReportDeps): ReportEndpoint {
  return {
    path: `${callbackPrefix}*rest`,
    answer: async context => {
      const code = await receiveReport(context, deps).catch((err: unknown) => {
        deps.log.error({ err }, 'cannot record a report');
        return 'unavailable' as const;
      });
      writeAnswer(context, code);
    },
  };
}

function writeAnswer(context: Context, code: keyof typeof answers): void {
  const { status, detail } = answers[code];
  context.status = status;
  if (code === 'recorded') return;
  if (code === 'method') context.set('Allow', 'POST');
  if (!context.req.complete) context.set('Connection', 'close');
  const problem = { type: 'about:blank', title: http.STATUS_CODES[status], status, detail };
  context.body = `${JSON.stringify(problem)}\n`;
  context.type = 'application/problem+json';
}

async function receiveReport(
  { req, res }: Context,
  { callbacks, reports }: ReportDeps,
): Promise<keyof typeof answers> {
  const attempt = callbacks.findAttempt(req.url ?? '');
  if (!attempt) return 'unknown';
  if (req.method !== 'POST') return 'method';
  permitBody(req, res, reportBodyBytesMax);
  const read = await readBody(req, reportBodyBytesMax);
  if (!read.ok) return read.problem === 'too-large' ? 'too-large' : 'unreadable';
  const posted = runReportShape.safeParse(parseJsonBody(read.body)?.value);
  if (!posted.success) return 'invalid';
  return reports.take(attempt, posted.data);
}
