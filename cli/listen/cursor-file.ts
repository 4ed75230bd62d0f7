import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../store/durable-file.ts';

/** What is forwarded where. Each has a cursor of its own. */
export interface Forwarding {
  /** See `Backend`. */
  readonly source: string;
  readonly factory: string;
  /** All webhooks if it is absent. */
  readonly webhook: string | undefined;
  readonly to: string;
}

/** Keeps the id of the last delivery that was forwarded, so that the next start goes on after it. */
export interface CursorFile {
  /** Undefined if nothing was forwarded yet. */
  read(): Promise<string | undefined>;
  write(after: string): Promise<void>;
}

/** Opens the cursor of a forwarding in the user's own directory for state (XDG Base Directory Specification). */
export function openCursorFile(forwarding: Forwarding): CursorFile {
  const { source, factory, webhook = null, to } = forwarding;
  const name = createHash('sha256')
    .update(JSON.stringify([source, factory, webhook, to]))
    .digest('hex');
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local/state');
  const file = join(state, 'hookmill/listen', `${name}.json`);
  return {
    async read() {
      const text = await readFile(file, 'utf8').catch(() => '{}');
      const { after }: { after?: unknown } = JSON.parse(text);
      return typeof after === 'string' ? after : undefined;
    },
    async write(after) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await replaceFile(file, `${JSON.stringify({ after })}\n`);
    },
  };
}
