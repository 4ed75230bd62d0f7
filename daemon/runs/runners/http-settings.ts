import { z } from 'zod';
import { addMistake } from '../../../schema/definitions/add-mistake.ts';
import { fieldPath } from '../../../schema/definitions/field-path-shape.ts';
import { secretNameShape } from '../../../schema/definitions/value-shapes.ts';
import { isCredentialHeader } from '../../../signatures/schemes.ts';
import { isReceiverUrl, outputBytes, receiverUrl, seconds, secretVariable } from '../../setting-shapes.ts';
import { findTemplateMistakes } from './http-template.ts';

/** @limit Time limit for one attempt by HTTP, in seconds: the receiver should answer 202 and work later. */
const runRequestSeconds = 30;
/** @limit Longest time limit for one attempt by HTTP, in seconds: `fetch` itself gives up after it. */
const runRequestSecondsMax = 300;
/** @limit Time for a receiver to report the end of a run that it has taken on, in seconds: it may be an agent at work. */
const runReportSeconds = 3_600;
/** @limit Headers that an operator adds to the requests of a runner, of each kind: far fewer than servers refuse. */
const headersMax = 32;
/** @limit Longest value of such a header, in characters: servers refuse headers of 8 KiB and more together. */
const headerCharsMax = 1_000;

/** The part of a runner's URL in whose place the ID of the run is sent. */
export const runInUrl = '{run}';

const runUrl = z.string().superRefine((text, context) => {
  const mistake = (message: string, hint: string) =>
    addMistake(context, [], message, { code: 'definition/value', hint });
  const [one, other] = ['a', 'b'].map(run => text.replaceAll(runInUrl, run)) as [string, string];
  if (!isReceiverUrl(one))
    mistake('not a valid URL of a receiver', 'use http:// or https://, without user or password');
  else if (new URL(one).origin !== new URL(other).origin)
    mistake('only the path and the query can contain {run}', 'write the host as it is');
  else if (/[{}]/.test(one))
    mistake('only {run} can be in a URL', 'write %7B and %7D for braces that mean themselves');
});

const headerName = z.string().superRefine((name, context) => checkHeaderName(name, context, []));

function checkHeaderName(name: string, context: z.RefinementCtx, path: PropertyKey[]): void {
  const mistake = (message: string, hint: string) =>
    addMistake(context, path, message, { code: 'definition/value', hint, atKey: path.length > 0 });
  // RFC 9110 §5.6.2.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) mistake('not a valid name of a header', 'as in Idempotency-Key');
  else if (isReserved(name.toLowerCase()))
    mistake(`${name} is set by hookmill itself`, 'leave it out; body, template and callback decide about it');
}

const reserved: ReadonlySet<string> = new Set([
  ...[
    'accept-encoding',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'date',
    'expect',
  ],
  ...['host', 'keep-alive', 'origin', 'proxy-connection', 'te', 'traceparent', 'tracestate', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'user-agent', 'via'],
]);

/** Whether hookmill, `fetch` or the connection decides about a header. */
function isReserved(lowerName: string): boolean {
  return reserved.has(lowerName) || /^(?:hookmill|sec|proxy)-/.test(lowerName);
}

/** Whether a text can be the value of a header as it is: RFC 9110 §5.5, without the bytes whose encoding nobody agrees on. */
export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

const headerValue = z
  .string()
  .max(headerCharsMax)
  .superRefine((text, context) => {
    if (isHeaderValue(text)) return;
    const hint =
      'write one line of ASCII without spaces around it; values of the payload can only be in the body';
    addMistake(context, [], 'not a valid value of a header', { code: 'definition/value', hint });
  });

const secretHeader = z.union([
  secretNameShape,
  z.strictObject({
    secretName: secretNameShape.describe('Team secret that holds the value.'),
    prefix: z
      .string()
      .max(headerCharsMax)
      .refine(text => isHeaderValue(`${text}x`), 'not a valid beginning of the value of a header')
      .describe('Text before the value, such as `Bearer `.'),
  }),
]);

const headers = <T extends z.ZodType>(value: T) =>
  z.record(z.string(), value).superRefine((all, context) => {
    for (const name of Object.keys(all)) checkHeaderName(name, context, [name]);
    const count = Object.keys(all).length;
    if (count > headersMax)
      addMistake(context, [], `at most ${headersMax} headers`, { code: 'definition/value' });
  });

const template = z.record(z.string(), z.unknown()).superRefine((object, context) => {
  for (const { path, message, ...params } of findTemplateMistakes(object))
    addMistake(context, path, message, { code: 'definition/value', ...params });
});

const expectedStatus = z
  .int()
  .min(200)
  .max(499)
  .refine(status => (status < 300 || status >= 400) && status !== 429, {
    error: 'a success can be 200–299, or 400–499 but 429',
  });

const callbackShape = z.strictObject({
  url: receiverUrl
    .transform(url => url.replace(/\/+$/, ''))
    .optional()
    .describe('URL of the ingress as the receiver reaches it; by default, the URL for senders.'),
  cancelUrl: receiverUrl
    .optional()
    .describe('URL that is told, with a POST, when somebody cancels a run that the receiver works on.'),
  timeLimitSeconds: seconds
    .default(runReportSeconds)
    .describe('Time limit for an attempt whose receiver goes on with it, in seconds.'),
});

/** The settings of the runner `http`. */
export const httpRunnerShape = z
  .strictObject({
    kind: z.literal('http'),
    url: runUrl
      .optional()
      .describe('URL that runs are posted to; {run} in its path stands for the ID of the run.'),
    secretUrl: secretNameShape
      .optional()
      .describe('Team secret whose value is the URL, if whoever knows the URL can use it.'),
    tokenFromEnvironment: secretVariable
      .optional()
      .describe("Name of a variable in the daemon's environment whose value is sent as the bearer token."),
    headers: headers(headerValue).optional().describe('Further headers of each request, with their values.'),
    secretHeaders: headers(secretHeader)
      .optional()
      .describe('Headers whose values are team secrets: the name of one, or its secretName with a prefix.'),
    idempotencyHeader: headerName
      .optional()
      .describe('Header that gets the ID of the run, the same in each attempt, such as Idempotency-Key.'),
    body: z
      .enum(['multipart', 'payload', 'json'])
      .optional()
      .describe(
        'Body of the request: a form with files (multipart, the default), the payload alone, or one JSON object.',
      ),
    template: template
      .optional()
      .describe(
        'JSON object to post, in place of body; a text such as "{payload.issue.id}" is replaced by that value.',
      ),
    expectedStatuses: z
      .array(expectedStatus)
      .min(1)
      .optional()
      .describe('Statuses that are success; by default, 200–299.'),
    responseLink: fieldPath
      .optional()
      .describe('Path in the JSON answer of the link that is shown with the run.'),
    responseMessage: fieldPath
      .optional()
      .describe('Path in the JSON answer of the message that is shown with the run.'),
    timeLimitSeconds: seconds
      .max(runRequestSecondsMax)
      .default(runRequestSeconds)
      .describe('Time limit for one attempt, in seconds.'),
    callback: callbackShape
      .optional()
      .describe('Lets the receiver answer 202, go on, and report the end later; off without this key.'),
    outputBytes,
  })
  .superRefine((settings, context) => {
    const mistake = (path: PropertyKey[], message: string, hint: string, atKey = true) =>
      addMistake(context, path, message, { code: 'definition/value', hint, atKey });
    if (settings.url === undefined && settings.secretUrl === undefined)
      addMistake(context, ['url'], 'the key "url" is missing', {
        ...{ code: 'definition/missing-key', atKey: true },
        hint: 'add url, or secretUrl with the name of the team secret that holds it',
      });
    if (settings.url !== undefined && settings.secretUrl !== undefined)
      mistake(['secretUrl'], 'give either url or secretUrl', 'remove one of them');
    if (settings.body !== undefined && settings.template !== undefined)
      mistake(['body'], 'give either body or template', 'remove body: the template is the body');
    for (const name of Object.keys(settings.headers ?? {}))
      if (isCredentialHeader(name))
        mistake(
          ['headers', name],
          `${name} carries a credential`,
          'store it as a team secret, and name that in secretHeaders',
        );
    const named = [
      ...Object.keys(settings.headers ?? {}).map(name => ['headers', name]),
      ...Object.keys(settings.secretHeaders ?? {}).map(name => ['secretHeaders', name]),
      ...(settings.idempotencyHeader === undefined
        ? []
        : [['idempotencyHeader', settings.idempotencyHeader]]),
    ] as [string, string][];
    const seen = new Set(settings.tokenFromEnvironment === undefined ? [] : ['authorization']);
    for (const [key, name] of named) {
      const path = key === 'idempotencyHeader' ? [key] : [key, name];
      if (seen.has(name.toLowerCase()))
        mistake(path, `the header ${name} is set twice`, 'remove one of them', path.length > 1);
      seen.add(name.toLowerCase());
    }
  });

export type HttpRunnerSettings = z.output<typeof httpRunnerShape>;
