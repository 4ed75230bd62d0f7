import { resolve } from 'node:path';
import { type PlanFile, planFileShape } from '../../operations/plan/plan-file.ts';
import { replaceFile } from '../../store/home/durable-file.ts';
import { parseJsonFile } from '../../store/parse-json-file.ts';
import { UsageError } from '../exit-status.ts';
import { readInputFile } from './read-input-file.ts';

/** Writes a plan with mode 0600: it contains no secret, but says how webhooks authenticate. */
export async function writePlanFile(path: string, plan: PlanFile): Promise<void> {
  const text = `${JSON.stringify(plan, null, 2)}\n`;
  await replaceFile(resolve(path), text).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`the plan ${path} cannot be written (${cause.code})`, { cause });
  });
}

/** Reads a plan. Fails with a StoreError if the file is not a plan of this version of hookmill. */
export async function readPlanFile(path: string): Promise<PlanFile> {
  return parseJsonFile(path, (await readInputFile(path, 'the plan')).toString('utf8'), planFileShape);
}
