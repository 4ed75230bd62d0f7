import type { DeliveryLog, Run } from '../../../store/ports/delivery-log.ts';
import type { RunFiles } from '../../../store/ports/run-files.ts';
import type { Store } from '../../../store/ports/store.ts';
import { postToReceiver } from '../../receivers/post-to-receiver.ts';
import { isReceiverUrl, readSecretVariable } from '../../setting-shapes.ts';
import type { Callbacks } from '../callbacks.ts';
import { addReason, keepReport, withOutput } from './attempt-output.ts';
import { type ReadAnswer, readAnswer } from './http-answer.ts';
import { createBody, listIds } from './http-body.ts';
import { maskSecrets, openSecrets } from './http-secrets.ts';
import { type HttpRunnerSettings, isHeaderValue, runInUrl } from './http-settings.ts';
import { listTemplateSecrets, TemplateFailure } from './http-template.ts';
import {
  type Attempt,
  type AttemptResult,
  boundTimeLimitMs,
  type Runner,
  requireNotCancelled,
  type TellCancelled,
} from './runner.ts';

export interface HttpDeps {
  readonly environment: NodeJS.ProcessEnv;
  /** The place of the runner's settings. */
  readonly setting: string;
  readonly runFiles: Pick<RunFiles, 'appendOutput'>;
  readonly store: Pick<Store, 'teamSecrets' | 'deliveries'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recordReport'>;
  readonly nowMs: () => number;
  /** Undefined unless receivers get callbacks. */
  readonly callbacks?: Pick<Callbacks, 'createUrl'> | undefined;
}

/**
 * Posts each attempt to the operator's receiver, with the body and the headers that the settings name. `postToReceiver`
 * decides what is success, and what is retried. A receiver that gets a callback may answer 202 and
 * `Hookmill-Callback: accepted`, and report the end later. No secret of the request is kept of the answer.
 */
export function createHttpRunner(settings: HttpRunnerSettings, deps: HttpDeps): Runner {
  const token = readToken(settings, deps);
  const { callback } = settings;
  return async (attempt, signal) => {
    const startedMs = deps.nowMs();
    const request = await createRequest(attempt, settings, token, deps);
    await requireNotCancelled(attempt.run, deps.store);
    // `fetch` with a signal that has aborted would end the process, and opening a secret may take long.
    if (signal.aborted) return { kind: 'unattempted', reason: 'the daemon stopped before the request' };
    const kept = { nowMs: startedMs, bytesMax: settings.outputBytes, onLost: remarkLost };
    return withOutput(deps.runFiles, attempt, kept, async output => {
      if ('kind' in request) return request;
      const masking = maskSecrets(request.secrets);
      const masked = masking.output(output);
      let goesOn = false;
      let said: ReadAnswer = {};
      const posted = await postToReceiver({ ...request, signal }, deps.nowMs, async response => {
        goesOn = response.status === 202 && response.headers.get('hookmill-callback') === 'accepted';
        said = await readAnswer(response, settings, masked);
        await masked.flush();
      });
      const remark = await keepReport(attempt.run, masking.said(said), deps).then(
        () => posted,
        () => addReason(posted, 'its link, message and cost could not be recorded'),
      );
      if (posted.kind !== 'succeeded') return { ...posted, reason: masking.text(posted.reason) };
      if (!callback || !goesOn) return remark;
      const untilMs = (attempt.run.startedAtMs ?? startedMs) + boundTimeLimitMs(callback, attempt);
      const reason = `the receiver goes on, and has until ${new Date(untilMs).toISOString()} to report the end`;
      return { kind: 'waiting', untilMs, reason };
    });
  };
}

/** The receiver has the run: that its answer is lost is a remark, because it must not get the run again for that. */
function remarkLost(result: AttemptResult, error: unknown): AttemptResult {
  return addReason(result, `output could not be kept (${(error as NodeJS.ErrnoException).code})`);
}

/** The operator's token, if the settings name one. Fails with SettingsError if its variable is not set. */
function readToken(
  { tokenFromEnvironment: name }: HttpRunnerSettings,
  { environment, setting }: Pick<HttpDeps, 'environment' | 'setting'>,
): string | undefined {
  if (name === undefined) return undefined;
  return readSecretVariable(environment, `${setting}.tokenFromEnvironment`, name);
}

/**
 * Creates the request of an attempt, with a list of the secrets that its answer may repeat. Returns the result of the attempt
 * instead if a team secret or a value for the template is missing.
 */
async function createRequest(
  attempt: Attempt,
  settings: HttpRunnerSettings,
  token: string | undefined,
  { store, callbacks }: HttpDeps,
) {
  const { secretUrl, idempotencyHeader, expectedStatuses, template } = settings;
  const names = [...(secretUrl === undefined ? [] : [secretUrl]), ...listTemplateSecrets(template)];
  const opened = await openSecrets(names, attempt.run.factory, store);
  if ('kind' in opened) return opened;
  const created = await createHeaders(attempt, settings, token, store);
  if ('kind' in created) return created;
  const { headers } = created;
  if (idempotencyHeader !== undefined) headers[idempotencyHeader] = attempt.run.id;
  const url =
    secretUrl === undefined
      ? `${settings.url}`.replaceAll(runInUrl, attempt.run.id)
      : (opened.get(secretUrl) ?? '');
  if (!isReceiverUrl(url))
    return fail(
      `the team secret ${secretUrl} is not the URL of a receiver; set it with \`hookmill secrets set ${secretUrl}\``,
    );
  const callbackUrl = callbacks?.createUrl(attempt.run);
  if (callbackUrl !== undefined) headers['hookmill-callback'] = callbackUrl;
  const secrets = [...opened.values(), ...created.secrets, callbackUrl?.split('/').at(-1) ?? ''];
  if (secretUrl !== undefined) secrets.push(...listSecretParts(url));
  const timeLimitMs = boundTimeLimitMs(settings, attempt);
  try {
    const body = await createBody(settings, attempt, opened);
    return { url, headers, body, timeLimitMs, expectedStatuses, secrets };
  } catch (error) {
    if (error instanceof TemplateFailure) return fail(error.message);
    throw error;
  }
}

/**
 * Creates the headers of any request about a run, with a list of their secrets. Returns a failed result instead if a team
 * secret cannot be used.
 */
async function createHeaders(
  { run, traceparent }: Pick<Attempt, 'run' | 'traceparent'>,
  settings: HttpRunnerSettings,
  token: string | undefined,
  store: HttpDeps['store'],
) {
  const secretHeaders = Object.entries(settings.secretHeaders ?? {}).map(([header, value]) => ({
    header,
    ...(typeof value === 'string' ? { secretName: value, prefix: '' } : value),
  }));
  const names = secretHeaders.map(({ secretName }) => secretName);
  const opened = await openSecrets(names, run.factory, store);
  if ('kind' in opened) return opened;
  const headers: Record<string, string> = { ...settings.headers, ...createRunHeaders(run, traceparent) };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  for (const { header, secretName, prefix } of secretHeaders) {
    headers[header] = `${prefix}${opened.get(secretName) ?? ''}`;
    if (!isHeaderValue(headers[header]))
      return fail(
        `the value of the team secret ${secretName} cannot be in a header; it must be one line of ASCII`,
      );
  }
  return { headers, secrets: [...opened.values(), token ?? ''] };
}

const fail = (reason: string) => ({ kind: 'failed' as const, reason });

/** The parts of a secret URL that a receiver may write in its answer. */
function listSecretParts(url: string): string[] {
  const { pathname, search } = new URL(url);
  return [`${pathname}${search}`, pathname].filter(part => part.length > 1);
}

/** The headers that name a run and its attempt. */
function createRunHeaders(run: Run, traceparent: string | undefined): Record<string, string> {
  return {
    ...(traceparent !== undefined && { traceparent }),
    'user-agent': 'hookmill',
    'hookmill-run-id': run.id,
    'hookmill-delivery-id': run.deliveryId,
    'hookmill-webhook': run.webhook,
    'hookmill-automation': run.automation,
    'hookmill-factory': run.factory,
    'hookmill-attempt': String(run.attempts),
    'hookmill-fencing-token': String(run.claims),
  };
}

/** Posts to `callback.cancelUrl`, if the settings have one, once: reports of the run get 410, whether it was told or not. */
export function createTellCancelled(
  settings: HttpRunnerSettings,
  { environment, setting, store, nowMs }: Pick<HttpDeps, 'environment' | 'setting' | 'store' | 'nowMs'>,
): TellCancelled | undefined {
  const url = settings.callback?.cancelUrl;
  if (url === undefined) return undefined;
  const token = readToken(settings, { environment, setting });
  return async (run, signal) => {
    const created = await createHeaders({ run }, settings, token, store);
    if ('kind' in created) return created.reason;
    const post = {
      ...{ url, timeLimitMs: settings.timeLimitSeconds * 1_000, signal, body: JSON.stringify(listIds(run)) },
      headers: { ...created.headers, 'content-type': 'application/json' },
    };
    const { reason } = await postToReceiver(post, nowMs);
    return reason && maskSecrets(created.secrets).text(reason);
  };
}
