import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attachmentName,
  attachmentsName,
  headersAttachmentName,
  headersAttachmentsName,
} from '../../../schema/attachments.ts';
import type { RunFiles } from '../../../store/ports/run-files.ts';
import type { CommandRunnerSettings } from '../run-settings.ts';
import { keepResult, propose, type ResultDeps } from './command-result.ts';
import type { CommandUser } from './command-user.ts';
import { createRunVariables, openProgram, type ProgramDeps } from './program.ts';
import type { Attempt, PrepareCommand, Runner } from './runner.ts';

/** The home directory of an attempt, in the run's directory. */
const homeName = 'home';

export interface CommandDeps extends ProgramDeps {
  readonly prepare: PrepareCommand | undefined;
  readonly runFiles: ProgramDeps['runFiles'] & ResultDeps['runFiles'] & Pick<RunFiles, 'beginArtifacts'>;
}

/**
 * Runs the operator's command for each attempt, in the run's directory, with a home directory of its own there unless the
 * settings say `keep`. It gets the message on stdin; nothing that a sender wrote is in its arguments or environment. If a
 * second command is to act on what it left, the run goes on to that.
 */
export function createCommandRunner(
  settings: CommandRunnerSettings,
  deps: CommandDeps,
  program = openProgram(settings, deps),
): Runner {
  const { user, prepare, runFiles, nowMs } = deps;
  const { afterwards } = settings;
  return async (attempt, signal) => {
    const secrets = await program.openSecrets(attempt.run);
    if ('kind' in secrets) return secrets;
    await runFiles.beginArtifacts(attempt.run);
    // First, while nobody else has been in the directory.
    const home = settings.keep ? undefined : await makeHome(attempt, user);
    const { failure, variables } = (await prepare?.(attempt, signal)) ?? {};
    if (failure) return failure;
    const others = {
      ...createRunVariables(attempt.run, attempt.traceparent),
      ...nameFiles(attempt),
      ...variables,
    };
    return program.execute(attempt, secrets, { home, others }, signal, async (ended, record) => {
      const kept = await keepResult(attempt, ended, { runFiles, owner: user?.uid, record });
      const { result, artifacts, isComplete } = kept;
      if (!afterwards || result.kind !== 'succeeded') return result;
      if (!isComplete)
        return { ...result, kind: 'retry', reason: `${result.reason}; so the second command did not act` };
      return artifacts === 0 ? result : { ...result, ...propose(afterwards, nowMs()) };
    });
  };
}

async function makeHome({ directory }: Attempt, user: CommandUser | undefined): Promise<string> {
  const home = join(directory, homeName);
  await mkdir(home, { mode: 0o700 });
  await user?.give(home);
  return home;
}

/** The variables that name the files of an attempt. */
function nameFiles({ directory, gathered }: Attempt): Record<string, string> {
  return {
    HOOKMILL_PAYLOAD_FILE: join(directory, attachmentName),
    HOOKMILL_HEADERS_FILE: join(directory, headersAttachmentName),
    ...(gathered > 0 && {
      HOOKMILL_PAYLOADS_DIR: join(directory, attachmentsName),
      HOOKMILL_HEADERS_DIR: join(directory, headersAttachmentsName),
    }),
  };
}
