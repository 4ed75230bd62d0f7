import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type PlanFile, planFileShape } from '../../operations/plan-file.ts';
import { replaceFile } from '../../store/durable-file.ts';
import { parseJsonFile } from '../../store/parse-json-file.ts';
import { CommandError, exitStatus } from '../exit-status.ts';

/** Mode 0600: a plan tells how webhooks authenticate, if no secret. */
export async function writePlanFile(path: string, plan: PlanFile): Promise<void> {
  const text = `${JSON.stringify(plan, null, 2)}\n`;
  await replaceFile(resolve(path), text).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the plan ${path} cannot be written (${error.code})`, exitStatus.usage);
  });
}

/** Fails with a StoreError for a file that is no plan of this version of hookmill. */
export function readPlanFile(path: string): PlanFile {
  return parseJsonFile(path, textOf(path), planFileShape);
}

function textOf(path: string): string {
  try {
    return readFileSync(resolve(path), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`the plan ${path} cannot be read (${code})`, exitStatus.usage);
  }
}
