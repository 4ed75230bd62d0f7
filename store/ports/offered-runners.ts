import { z } from 'zod';
import { runnerKinds } from '../../schema/delivery.ts';
import { compileGlob } from '../../schema/filters/glob.ts';

const offeredRunnerShape = z.strictObject({
  name: z.string(),
  kind: z.enum(runnerKinds),
  /** Who may use it: globs of names. */
  factories: z.array(z.string()),
  automations: z.array(z.string()),
  /** The repositories among which an automation chooses. */
  repositories: z.array(z.string()),
  /** The operator's limits of a run: attempts, and the time of an attempt, if there is one. Not before a daemon has started. */
  attempts: z.int().optional(),
  timeLimitSeconds: z.number().optional(),
});

/** A runner, as automations choose it. */
export type OfferedRunner = z.output<typeof offeredRunnerShape>;

export const offeredRunnersShape = z.strictObject({
  formatVersion: z.literal(1),
  runners: z.array(offeredRunnerShape),
});

/** The runners that the last daemon to start offers, by which plans and applies check automations. */
export interface OfferedRunners {
  /** Only the default runner before a daemon has started. */
  read(): Promise<readonly OfferedRunner[]>;
  record(runners: readonly OfferedRunner[]): Promise<void>;
}

/** The globs of names that say who may use a runner. */
interface Users {
  readonly factories: readonly string[];
  readonly automations: readonly string[];
}

/** Whether automations of a factory may use a runner. */
export function isOfferedTo({ factories }: Pick<Users, 'factories'>, factory: string): boolean {
  return factories.some(glob => compileGlob(glob)(factory));
}

/** Whether an automation of a factory may use a runner. */
export function maySelect(
  runner: Users,
  { factory, automation }: { readonly factory: string; readonly automation: string },
): boolean {
  return isOfferedTo(runner, factory) && runner.automations.some(glob => compileGlob(glob)(automation));
}
