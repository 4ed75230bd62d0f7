import { readFile } from 'node:fs/promises';
import { replaceFile } from './files/durable-file.ts';
import type { Home } from './files/home.ts';

/** Notes where the daemon of a home receives, so that commands name the right URLs without being told. */
export async function recordDaemonAddress(home: Home, ingressUrl: string): Promise<void> {
  await replaceFile(home.daemonFile, `${JSON.stringify({ ingressUrl })}\n`);
}

/** Where the daemon of a home received when it last started; undefined if none ever did. */
export async function readDaemonAddress(home: Home): Promise<string | undefined> {
  try {
    const { ingressUrl } = JSON.parse(await readFile(home.daemonFile, 'utf8'));
    return typeof ingressUrl === 'string' ? ingressUrl : undefined;
  } catch {
    // It only saves telling: whatever is wrong with it, the default is as good.
    return undefined;
  }
}
