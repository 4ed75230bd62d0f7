import { execa } from 'execa';
import { runCommand } from './command-runner.ts';
import type { RunResult } from './workspace.ts';

/** Where a shell runs. Its `PATH` has a `hookmill`. */
interface ShellPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

// A command of hookmill and what is piped into it, without anything that only a shell understands.
const plain = /^(?:(.+) \| )?hookmill((?: +(?:[\w./:=,-]+|"[^"$`\\]*"))*)$/;

/**
 * Runs lines as `bash -e` does, but plain commands of hookmill in the process that commands share. So variables do not
 * last beyond such a command, unless the lines export them: then one shell runs everything.
 */
export async function runShell(script: string, place: ShellPlace): Promise<RunResult> {
  const parts: string[] = [];
  for (const line of /^export /m.test(script) ? [script] : script.split('\n')) {
    const last = parts.at(-1);
    if (last === undefined || plain.test(last) || plain.test(line)) parts.push(line);
    else parts[parts.length - 1] = `${last}\n${line}`;
  }
  const printed = { stdout: '', stderr: '' };
  for (const part of parts) {
    const { stdout, stderr, exitCode } = await runPart(part, place);
    printed.stdout += stdout;
    printed.stderr += stderr;
    if (exitCode !== 0) return { ...printed, exitCode };
  }
  return { ...printed, exitCode: 0 };
}

async function runPart(part: string, { cwd, env }: ShellPlace): Promise<RunResult> {
  const options = { cwd, env, extendEnv: false, reject: false, stripFinalNewline: false } as const;
  const shell = async (script: string) => {
    const { stdout, stderr, exitCode } = await execa('bash', ['-ec', script], options);
    return { stdout, stderr, exitCode };
  };
  const [, feed, words] = plain.exec(part) ?? [];
  if (words === undefined) return shell(part);
  const args = (words.match(/"[^"]*"|\S+/g) ?? []).map(word => word.replaceAll('"', ''));
  const stdin = feed ? (await shell(feed)).stdout : '';
  return (await runCommand({ args, cwd, env, stdin })) ?? shell(part);
}
