import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import {
  attachmentName,
  attachmentsName,
  headersAttachmentName,
  headersAttachmentsName,
  nameAttachment,
} from '../../../schema/attachments.ts';
import { type RunFiles, type RunOutput, renderEventHeaders } from '../../../store/ports/run-files.ts';
import { postToReceiver } from '../../receivers/post-to-receiver.ts';
import { readSecretVariable } from '../../secret-variable.ts';
import type { Callbacks } from '../callbacks.ts';
import { withOutput } from './attempt-output.ts';
import type { HttpRunnerSettings } from './http-settings.ts';
import { type Attempt, boundTimeLimitMs, type Runner } from './runner.ts';

export interface HttpDeps {
  readonly environment: NodeJS.ProcessEnv;
  readonly runFiles: Pick<RunFiles, 'appendOutput'>;
  readonly nowMs: () => number;
  /** Undefined unless receivers get callbacks. */
  readonly callbacks?: Pick<Callbacks, 'createUrl'> | undefined;
}

/**
 * Posts each attempt to the operator's receiver as multipart/form-data (RFC 7578): the text `message`, the files
 * `event-payload.json` and `event-headers.json`, and both files of each delivery that the run has gathered. `postToReceiver`
 * decides what is success, and what is retried. A receiver that gets a callback may answer 202 and
 * `Hookmill-Callback: accepted`, and report the end later.
 */
export function createHttpRunner(
  settings: HttpRunnerSettings,
  { environment, runFiles, nowMs, callbacks }: HttpDeps,
): Runner {
  const authorization = readAuthorization(settings, environment);
  const { callback } = settings;
  return async (attempt, signal) => {
    const startedMs = nowMs();
    const post = {
      ...{ url: settings.url, timeLimitMs: boundTimeLimitMs(settings, attempt), signal },
      headers: {
        ...createRunHeaders(attempt),
        ...(callbacks && { 'hookmill-callback': callbacks.createUrl(attempt.run) }),
        ...authorization,
      },
      body: await createForm(attempt),
    };
    return withOutput(runFiles, attempt, startedMs, settings.outputBytes, async output => {
      let goesOn = false;
      const result = await postToReceiver(post, nowMs, response => {
        goesOn = response.status === 202 && response.headers.get('hookmill-callback') === 'accepted';
        return collect(response, output);
      });
      if (!callback || !goesOn || result.kind !== 'succeeded') return result;
      const untilMs = (attempt.run.startedAtMs ?? startedMs) + boundTimeLimitMs(callback, attempt);
      const reason = `the receiver goes on, and has until ${new Date(untilMs).toISOString()} to report the end`;
      return { kind: 'waiting', untilMs, reason };
    });
  };
}

function readAuthorization(
  { tokenFromEnvironment: name }: HttpRunnerSettings,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  if (name === undefined) return {};
  const token = readSecretVariable(environment, 'runs.runner.tokenFromEnvironment', name);
  return { authorization: `Bearer ${token}` };
}

function createRunHeaders({ run, traceparent }: Attempt): Record<string, string> {
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

async function createForm(attempt: Attempt): Promise<FormData> {
  const { directory, gathered, message, payload, headers } = attempt;
  const data = new FormData();
  data.append('message', message);
  const attach = (name: string, content: Buffer<ArrayBuffer> | string) =>
    data.append(name, new Blob([content], { type }), name);
  attach(attachmentName, Buffer.from(payload));
  attach(headersAttachmentName, renderEventHeaders(headers));
  // Read while they are sent, because all of them may be too large for the memory.
  for (let index = 0; index < gathered; index++)
    for (const folder of [attachmentsName, headersAttachmentsName]) {
      const name = `${folder}/${nameAttachment(index)}`;
      data.append(name, await openAsBlob(join(directory, name), { type }), name);
    }
  return data;
}

const type = 'application/json';

/** Reads the part of the body that is kept. Ignores failures, because the status already decides the result. */
async function collect(response: Response, output: RunOutput): Promise<void> {
  const location = response.headers.get('location');
  void output.write(Buffer.from(`HTTP ${response.status}${location ? `, location: ${location}` : ''}\n`));
  try {
    for await (const chunk of response.body ?? []) {
      await output.write(chunk);
      if (output.isFull()) break;
    }
  } catch {
    void output.write(Buffer.from('\n(the response body ended early)'));
  }
}
