import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../store/home/durable-file.ts';
import { parseJsonFile } from '../../store/stored-json.ts';

/** The source of forwarded deliveries, and the URL that gets them. Each such pair has its own cursor. */
export interface Forwarding {
  /** See `Backend`. */
  readonly source: string;
  readonly factory: string;
  /** Absent: all webhooks. */
  readonly webhook: string | undefined;
  readonly to: string;
}

const cursorShape = z.object({ after: z.string() });

/** Keeps the id of the last delivery that was forwarded, so that the next start goes on after it. */
export interface CursorFile {
  /** Undefined if nothing was forwarded yet. Fails with StoreError `corrupt` if the file was edited. */
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
      if (!existsSync(file)) return undefined;
      return parseJsonFile(file, await readFile(file, 'utf8'), cursorShape).after;
    },
    async write(after) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await replaceFile(file, `${JSON.stringify({ after })}\n`);
    },
  };
}
