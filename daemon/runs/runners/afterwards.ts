import { join } from 'node:path';
import type { RunControl } from '../../../schema/definitions/automation-definition.ts';
import { parseDurationMs } from '../../../schema/time-units.ts';
import { artifactsName, type RunFiles } from '../../../store/ports/run-files.ts';
import type { AfterwardsSettings } from '../run-settings.ts';
import { keepResult, propose, type ResultDeps } from './command-result.ts';
import { createRunVariables, openProgram, type ProgramDeps } from './program.ts';
import type { RunAfterwards } from './runner.ts';

export interface AfterwardsDeps extends ProgramDeps {
  readonly runFiles: ProgramDeps['runFiles'] &
    ResultDeps['runFiles'] &
    Pick<RunFiles, 'prepareArtifacts' | 'discardPrepared'>;
}

/**
 * Runs the operator's second command of a run, which acts on what the first one left: in a directory that has only the
 * artifacts, with nothing on stdin. So an agent proposes, and this checks the form and acts, as another user with secrets
 * of its own. What is in the artifacts afterwards is listed in place of them; another attempt begins with the first ones.
 */
export function createAfterwards(
  settings: AfterwardsSettings,
  deps: AfterwardsDeps,
  program = openProgram(settings, deps),
): RunAfterwards {
  const { user, runFiles, nowMs } = deps;
  return async (run, { timeLimit }, signal) => {
    // Somebody must have changed the settings, or where the run is stored.
    if (settings.approval === 'required' && !run.afterwards?.approval) return propose(settings, nowMs());
    const secrets = await program.openSecrets(run);
    if ('kind' in secrets) return secrets;
    const { claims } = run.afterwards ?? run;
    const directory = await runFiles.prepareArtifacts({ id: run.id, claims });
    if (directory === undefined)
      return { kind: 'unattempted', reason: 'the artifacts of the run are on another machine' };
    try {
      await user?.give(join(directory, artifactsName));
      const work = { run, directory, message: '', timeLimitMs: limitMs(timeLimit) };
      const others = { ...createRunVariables(run), HOOKMILL_ARTIFACTS_DIR: join(directory, artifactsName) };
      return await program.execute(
        work,
        secrets,
        { home: directory, others },
        signal,
        async (ended, record) => {
          const kept = { runFiles, owner: user?.uid, record, from: directory };
          const { usage: _, ...result } = (await keepResult({ run }, ended, kept)).result;
          return result;
        },
      );
    } finally {
      await runFiles.discardPrepared(run.id);
    }
  };
}

function limitMs(timeLimit: RunControl['timeLimit']): number | undefined {
  return timeLimit === undefined ? undefined : parseDurationMs(timeLimit);
}
