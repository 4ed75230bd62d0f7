import type { Run } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import { postToReceiver } from '../../receivers/post-to-receiver.ts';
import { isReceiverUrl, readSecretVariable } from '../../setting-shapes.ts';
import type { Callbacks } from '../callbacks.ts';
import { type Masking, maskSecrets } from '../masking.ts';
import { RunRecord, type RunRecordDeps, withOutput } from '../run-record.ts';
import { type ReadAnswer, readAnswer } from './http-answer.ts';
import { createBody, listIds } from './http-body.ts';
import { type HttpRunnerSettings, isHeaderValue, runInUrl } from './http-settings.ts';
import { listTemplateSecrets, TemplateFailure } from './http-template.ts';
import { openSecrets } from './open-secrets.ts';
import {
  type Attempt,
  type AttemptResult,
  addReason,
  boundTimeLimitMs,
  type Runner,
  requireNotCancelled,
  type TellCancelled,
} from './runner.ts';

export interface HttpDeps extends RunRecordDeps {
  readonly environment: NodeJS.ProcessEnv;
  /** The place of the runner's settings. */
  readonly setting: string;
  readonly store: Pick<Store, 'teamSecrets' | 'deliveries'>;
  /** Undefined unless receivers get callbacks. */
  readonly callbacks?: Pick<Callbacks, 'createUrl' | 'listTokens'> | undefined;
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
    const record = new RunRecord(attempt.run, request.masking, deps);
    return withOutput(record, attempt.run, kept, async output => {
      if (request.failure) return request.failure;
      let goesOn = false;
      let said: ReadAnswer = {};
      const posted = await postToReceiver({ ...request, signal }, deps.nowMs, async response => {
        goesOn = response.status === 202 && response.headers.get('hookmill-callback') === 'accepted';
        said = await readAnswer(response, settings, output.openStream());
      });
      const isSaid = Object.keys(record.said(said)).length > 0;
      const remark = await (isSaid ? record.report(said) : Promise.resolve()).then(
        () => posted,
        () => addReason(posted, 'its link, message and cost could not be recorded'),
      );
      if (posted.kind !== 'succeeded') return posted;
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
 * Creates the request of an attempt, with the masking of its secrets. Returns the result of the attempt instead if a team
 * secret or a value for the template is missing.
 */
async function createRequest(
  attempt: Attempt,
  settings: HttpRunnerSettings,
  token: string | undefined,
  deps: SecretDeps,
) {
  const { secretUrl, idempotencyHeader, expectedStatuses } = settings;
  const opened = await openRunSecrets(attempt.run, settings, token, deps);
  if ('kind' in opened) return { failure: opened, masking: maskSecrets([]) };
  const { values, masking, callbackUrl } = opened;
  const failed = (reason: string) => ({ failure: fail(reason), masking });
  const created = createHeaders(attempt, settings, token, values);
  if ('kind' in created) return { failure: created, masking };
  const { headers } = created;
  if (idempotencyHeader !== undefined) headers[idempotencyHeader] = attempt.run.id;
  const url =
    secretUrl === undefined
      ? `${settings.url}`.replaceAll(runInUrl, attempt.run.id)
      : (values.get(secretUrl) ?? '');
  if (!isReceiverUrl(url))
    return failed(
      `the team secret ${secretUrl} is not the URL of a receiver; set it with \`hookmill secrets set ${secretUrl}\``,
    );
  if (callbackUrl !== undefined) headers['hookmill-callback'] = callbackUrl;
  const timeLimitMs = boundTimeLimitMs(settings, attempt);
  try {
    const body = await createBody(settings, attempt, values);
    return { url, headers, body, timeLimitMs, expectedStatuses, masking };
  } catch (error) {
    if (error instanceof TemplateFailure) return failed(error.message);
    throw error;
  }
}

type SecretDeps = Pick<HttpDeps, 'store' | 'callbacks'>;

/** Opens all secrets of the request of an attempt: its receiver may repeat each, also in a report much later. */
async function openRunSecrets(
  run: Run,
  settings: HttpRunnerSettings,
  token: string | undefined,
  { store, callbacks }: SecretDeps,
) {
  const { secretUrl, template } = settings;
  const inUrl = secretUrl === undefined ? [] : [secretUrl];
  const names = [...inUrl, ...listTemplateSecrets(template), ...listHeaderSecrets(settings)];
  const values = await openSecrets(names, run.factory, store);
  if ('kind' in values) return values;
  const urls = inUrl.flatMap(name => listSecretParts(values.get(name) ?? ''));
  const secrets = [...values.values(), ...urls, ...(callbacks?.listTokens(run) ?? []), token ?? ''];
  return { values, masking: maskSecrets(secrets), callbackUrl: callbacks?.createUrl(run) };
}

/** Opens the masking for reports on an attempt; undefined if one of its secrets cannot be read. */
export function createOpenMasking(
  settings: HttpRunnerSettings,
  deps: SecretDeps & Pick<HttpDeps, 'environment' | 'setting'>,
): (run: Run) => Promise<Masking | undefined> {
  const token = readToken(settings, deps);
  return async run => {
    const opened = await openRunSecrets(run, settings, token, deps);
    return 'kind' in opened ? undefined : opened.masking;
  };
}

function listHeaderSecrets({ secretHeaders = {} }: HttpRunnerSettings): string[] {
  return Object.values(secretHeaders).map(value => (typeof value === 'string' ? value : value.secretName));
}

/** Creates the headers of any request about a run. Returns a failed result instead if a team secret does not fit. */
function createHeaders(
  { run, traceparent }: Pick<Attempt, 'run' | 'traceparent'>,
  settings: HttpRunnerSettings,
  token: string | undefined,
  values: ReadonlyMap<string, string>,
) {
  const headers: Record<string, string> = { ...settings.headers, ...createRunHeaders(run, traceparent) };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  for (const [header, value] of Object.entries(settings.secretHeaders ?? {})) {
    const { secretName, prefix } = typeof value === 'string' ? { secretName: value, prefix: '' } : value;
    headers[header] = `${prefix}${values.get(secretName) ?? ''}`;
    if (!isHeaderValue(headers[header]))
      return fail(
        `the value of the team secret ${secretName} cannot be in a header; it must be one line of ASCII`,
      );
  }
  return { headers };
}

const fail = (reason: string) => ({ kind: 'failed' as const, reason });

/** The parts of a secret URL that a receiver may write in its answer. */
function listSecretParts(url: string): string[] {
  if (!URL.canParse(url)) return [];
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
    const values = await openSecrets(listHeaderSecrets(settings), run.factory, store);
    if ('kind' in values) return values.reason;
    const created = createHeaders({ run }, settings, token, values);
    if ('kind' in created) return created.reason;
    const post = {
      ...{ url, timeLimitMs: settings.timeLimitSeconds * 1_000, signal, body: JSON.stringify(listIds(run)) },
      headers: { ...created.headers, 'content-type': 'application/json' },
    };
    const { reason } = await postToReceiver(post, nowMs);
    return reason && maskSecrets([...values.values(), token ?? '']).text(reason);
  };
}
