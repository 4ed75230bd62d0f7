import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { listPrograms } from '../../daemon/runs/run-settings.ts';
import type { DaemonSettings } from '../../daemon/settings.ts';
import type { Store } from '../../store/ports/store.ts';
import { findReason } from '../describe-error.ts';
import { readInputFile } from '../input/read-input.ts';
import { fine, problem, type Symptom } from './symptom.ts';

/** Checks what the daemon's configuration file names: the user of runs, and the sign-in provider. */
export async function examineSettings(file: string, { teamSecrets }: Store): Promise<Symptom[]> {
  const { parseSettings } = await import('../../daemon/parse-settings.ts');
  const { definition: settings, diagnostics } = parseSettings(file, await readInputFile(file));
  if (!settings) {
    return diagnostics.map(({ message, range, hint = 'correct the file' }) =>
      problem('settings', `${file}:${range?.start.line ?? 1}: ${message}`, hint),
    );
  }
  return [
    fine('settings', `${file} is valid`),
    ...(await examineRunners(settings, teamSecrets)),
    ...(await examineSignIn(settings, teamSecrets)),
  ];
}

type FoundProgram = ReturnType<typeof listPrograms>[number];

/** Checks the user, the program and the team secrets of each runner. */
async function examineRunners(
  { runs }: DaemonSettings,
  teamSecrets: Store['teamSecrets'],
): Promise<Symptom[]> {
  const { listPrograms, listRunners, listSecrets } = await import('../../daemon/runs/run-settings.ts');
  const symptoms: Symptom[] = [];
  const known = new Set(await teamSecrets.listNames());
  for (const one of listRunners(runs)) {
    for (const found of listPrograms(one))
      symptoms.push(...(await examineRunUser(found, runs.directory)), ...(await examineProgram(found)));
    for (const secret of listSecrets(one)) {
      if (known.has(secret)) continue;
      const place = ['runs', ...one.path].join('.');
      const remedy = `set it with \`hookmill secrets set ${secret}\``;
      symptoms.push(
        problem('runs', `${place} names the team secret ${secret}, which does not exist`, remedy),
      );
    }
  }
  return symptoms;
}

/** Tries to run a program as the user of runs, as the daemon does when it starts. */
async function examineRunUser({ program, path }: FoundProgram, directory = '/'): Promise<Symptom[]> {
  if (program.user === undefined) return [];
  const [{ openCommandUser }, { SettingsError }] = await Promise.all([
    import('../../daemon/runs/runners/command-user.ts'),
    import('../../daemon/setting-shapes.ts'),
  ]);
  try {
    await openCommandUser(program, ['runs', ...path].join('.'), findExisting(directory), process.env);
    return [fine('runs', `commands can run as ${program.user}`)];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [problem('runs', error.message, 'correct that, and run this command as the user of the daemon')];
  }
}

/** Looks for the program that runs start. */
async function examineProgram({ program, path }: FoundProgram): Promise<Symptom[]> {
  const { explainMissingProgram } = await import('../../daemon/runs/runners/missing-program.ts');
  const missing = await explainMissingProgram(program.argv[0] ?? '', process.env);
  if (missing === undefined) return [];
  return [
    problem(
      'runs',
      `${missing}, so no run can start`,
      `install it, or correct \`runs.${path.join('.')}.argv\``,
    ),
  ];
}

/** Begins a sign-in as the dashboard does, up to the page of the provider. */
async function examineSignIn(
  { signIn: settings, managementUrl = '' }: DaemonSettings,
  teamSecrets: Store['teamSecrets'],
): Promise<Symptom[]> {
  if (!settings) return [];
  const { openSignIn } = await import('../../daemon/management/sign-in/open-sign-in.ts');
  const { issuer } = settings;
  try {
    const given = { settings, managementUrl, environment: process.env, teamSecrets, nowMs: Date.now };
    const { begin } = await openSignIn(given);
    const redirect = (await begin('doctor')).searchParams.get('redirect_uri');
    return [fine('sign-in', `${issuer} answers; it must have the redirect URI ${redirect}`)];
  } catch (error) {
    const remedy = 'signIn.issuer must be the exact issuer of the provider, which this machine can reach';
    return [problem('sign-in', `${issuer}: ${findReason(error)}`, remedy)];
  }
}

/** Finds the directory, or the one in which it would be made. */
export function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path));
}
