import { createTextFinder } from '../../../json/find-json-text.ts';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { parseFieldPath } from '../../../schema/field-path.ts';
import { type RunSaid, reportMessageMax, runReportShape } from '../../../schema/run-report.ts';
import type { RunOutput } from '../../../store/ports/run-files.ts';
import type { HttpRunnerSettings } from './http-settings.ts';

/** @limit Largest answer of a receiver in which a link and a message are looked for, in bytes: such answers have a few KB. */
const answerBytesMax = 256 * 1024;

/** The link and the message that were found in an answer. */
export type ReadAnswer = Pick<RunSaid, 'message' | 'link'>;

type Fields = Pick<HttpRunnerSettings, 'responseLink' | 'responseMessage'>;

/**
 * Keeps the beginning of an answer's body as output, and reads the link and the message that the settings name. Ignores
 * failures, because the status already decides the result. The output says which of both the answer does not have.
 */
export async function readAnswer(
  response: Response,
  fields: Fields,
  output: Pick<RunOutput, 'write' | 'isFull'>,
): Promise<ReadAnswer> {
  const location = response.headers.get('location');
  void output.write(Buffer.from(`HTTP ${response.status}${location ? `, location: ${location}` : ''}\n`));
  const wanted = fields.responseLink !== undefined || fields.responseMessage !== undefined;
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (wanted && bytes <= answerBytesMax) kept.push(Buffer.from(chunk));
      await output.write(chunk);
      if (output.isFull() && (!wanted || bytes > answerBytesMax)) break;
    }
  } catch {
    void output.write(Buffer.from('\n(the response body ended early)'));
    return {};
  }
  if (!wanted || !response.ok) return {};
  const { missing, ...answer } = findFields(Buffer.concat(kept).toString(), fields);
  if (missing.length > 0) void output.write(Buffer.from(`\n(the answer has no ${missing.join(' and no ')})`));
  return answer;
}

function findFields(
  text: string,
  { responseLink, responseMessage }: Fields,
): ReadAnswer & { readonly missing: readonly string[] } {
  const find = isJson(text) ? createTextFinder(text) : () => undefined;
  const read = (path: string | undefined) =>
    path === undefined ? undefined : toPlainText(find(parseFieldPath(path) ?? []));
  const link = runReportShape.shape.link.safeParse(read(responseLink)).data;
  const message = cut(read(responseMessage));
  const missing = [
    ...(responseLink !== undefined && link === undefined ? [`http or https URL at ${responseLink}`] : []),
    ...(responseMessage !== undefined && message === undefined ? [`text at ${responseMessage}`] : []),
  ];
  return { ...(link !== undefined && { link }), ...(message !== undefined && { message }), missing };
}

function isJson(text: string): boolean {
  try {
    parseJsonText(text);
    return true;
  } catch {
    return false;
  }
}

/** The content of a text, or the digits of a number as they stand there. */
function toPlainText(json: string | undefined): string | undefined {
  if (json?.startsWith('"')) return parseJsonText(json) as string;
  return json === undefined || /^(?:null$|[[{])/.test(json) ? undefined : json;
}

function cut(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return text.length > reportMessageMax ? `${text.slice(0, reportMessageMax - 1).toWellFormed()}…` : text;
}
