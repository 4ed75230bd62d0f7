import { expect, vi } from 'vitest';
import { testLimitMs } from './test-limit.ts';
import type { RunResult } from './workspace.ts';

/** The machine of somebody who follows a page. */
export interface Reader {
  write(file: string, content: string): void;
  /** Runs a command line. One that goes on, as `serve` does, is left running. */
  run(command: string): Promise<RunResult>;
}

/**
 * Does what a page shows, from top to bottom: writes the files that its blocks name in their first comment, and runs the
 * command lines of its `console` blocks. Each must succeed and print the lines shown below it, except lines with `…`.
 * Commands that only look at something are repeated until they do. Ids and ports may differ. Returns how many
 * command lines it ran.
 */
export async function followPage(text: string, reader: Reader): Promise<number> {
  const ids = new Map<string, string>();
  let commands = 0;
  for (const [, language, block = ''] of text.matchAll(/^```(yaml|sh|console)\n(.*?)^```/gms)) {
    const [, file] = /^(?:#!.*\n)?# ([\w./-]+\.\w+)/.exec(block) ?? [];
    const steps = language === 'console' ? block.split(/^\$ /m).slice(1) : [];
    for (const step of steps) await follow(step, reader, ids);
    commands += steps.length;
    if (file && steps.length === 0) reader.write(file, withIds(block, ids));
  }
  return commands;
}

const id = /\b(?:wh|dlv|run)_[0-9a-z]{20,}/g;
const looks = / (status|list|show|why|logs|artifacts)\b/;

async function follow(step: string, reader: Reader, ids: Map<string, string>): Promise<void> {
  const [line = '', ...lines] = step.trimEnd().split('\n');
  const command = withIds(line, ids);
  const shown = lines.filter(line => !line.includes('…'));
  const attempt = async () => {
    const { stdout, stderr, exitCode } = await reader.run(command);
    expect({ command, stderr, exitCode }).toMatchObject({ exitCode: 0 });
    const printed = `${stdout}${stderr}`.split('\n');
    expect(printed.map(withoutIds), command).toEqual(expect.arrayContaining(shown.map(withoutIds)));
    return printed;
  };
  const printed = looks.test(command)
    ? await vi.waitFor(attempt, { timeout: testLimitMs, interval: 250 })
    : await attempt();
  for (const line of shown) {
    const found = printed.find(candidate => withoutIds(candidate) === withoutIds(line))?.match(id) ?? [];
    for (const [index, name] of (line.match(id) ?? []).entries()) ids.set(name, found[index] ?? name);
  }
}

/** With the ids of this reader in place of the page's. */
function withIds(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(id, shown => ids.get(shown) ?? shown);
}

function withoutIds(line: string): string {
  return line.replaceAll(id, 'ID').replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}
