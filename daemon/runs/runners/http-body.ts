import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import {
  attachmentName,
  attachmentsName,
  headersAttachmentName,
  headersAttachmentsName,
  nameAttachment,
} from '../../../schema/attachments.ts';
import type { Run } from '../../../store/ports/delivery-log.ts';
import { renderEventHeaders } from '../../../store/ports/run-files.ts';
import type { HttpRunnerSettings } from './http-settings.ts';
import { type BodyPart, renderTemplate } from './http-template.ts';
import type { Attempt } from './runner.ts';

const type = 'application/json';

/**
 * Creates the body of an attempt's request, as the settings say. Payloads are copied byte for byte into it. Those that a
 * run has gathered are read while they are sent, because all of them may be too large for the memory. Fails with
 * TemplateFailure if the template names a value that the delivery does not have.
 */
export async function createBody(
  { body = 'multipart', template }: Pick<HttpRunnerSettings, 'body' | 'template'>,
  attempt: Attempt,
  secrets: ReadonlyMap<string, string>,
): Promise<FormData | Blob> {
  if (template) return new Blob(await fillTemplate(template, attempt, secrets), { type });
  switch (body) {
    case 'multipart':
      return createForm(attempt);
    case 'payload':
      return new Blob([Buffer.from(attempt.payload)], { type });
    case 'json':
      return new Blob(await createObject(attempt), { type });
  }
}

async function createForm(attempt: Attempt): Promise<FormData> {
  const { gathered, message, payload, headers } = attempt;
  const data = new FormData();
  data.append('message', message);
  const attach = (name: string, content: Buffer<ArrayBuffer> | string) =>
    data.append(name, new Blob([content], { type }), name);
  attach(attachmentName, Buffer.from(payload));
  attach(headersAttachmentName, renderEventHeaders(headers));
  for (let index = 0; index < gathered; index++)
    for (const folder of [attachmentsName, headersAttachmentsName]) {
      const name = `${folder}/${nameAttachment(index)}`;
      data.append(name, await openGathered(attempt, folder, index), name);
    }
  return data;
}

function openGathered({ directory }: Attempt, folder: string, index: number): Promise<Blob> {
  return openAsBlob(join(directory, folder, nameAttachment(index)), { type });
}

async function createObject(attempt: Attempt): Promise<BodyPart[]> {
  const { message, payload, headers, gathered } = attempt;
  const first = JSON.stringify({ message, ...listIds(attempt.run), headers });
  const lists: BodyPart[] =
    gathered === 0
      ? []
      : [
          ...[',"payloads":', ...(await listGathered(attempt, attachmentsName))],
          ...[',"payloadHeaders":', ...(await listGathered(attempt, headersAttachmentsName))],
        ];
  return [first.slice(0, -1), ',"payload":', Buffer.from(payload), ...lists, '}'];
}

/** A JSON list of one file of each delivery that the run has gathered, which must be at least one. */
async function listGathered(attempt: Attempt, folder: string): Promise<BodyPart[]> {
  const parts: BodyPart[] = [];
  for (let index = 0; index < attempt.gathered; index++)
    parts.push(index === 0 ? '[' : ',', await openGathered(attempt, folder, index));
  return [...parts, ']'];
}

/** The names and IDs by which the JSON for a receiver says which run it is about. */
export function listIds({ id, deliveryId, webhook, automation, factory, attempts }: Run) {
  return { run: id, delivery: deliveryId, webhook, automation, factory, attempt: attempts };
}

function fillTemplate(
  template: object,
  attempt: Attempt,
  secrets: ReadonlyMap<string, string>,
): Promise<BodyPart[]> {
  const { message, headers, gathered } = attempt;
  const payload = Buffer.from(attempt.payload).toString();
  const payloads = async () =>
    gathered === 0 ? ['[', payload, ']'] : listGathered(attempt, attachmentsName);
  return renderTemplate(template, {
    payload,
    headers,
    message,
    payloads,
    secrets,
    plain: listIds(attempt.run),
  });
}
