import { hostname, userInfo } from 'node:os';
import { recordChange } from '../operations/audit.ts';
import type { Store } from '../store/ports.ts';
import { printStatus } from './output.ts';

/** Records a change that a command has made to the store itself. If that fails, the change is made nevertheless. */
export async function recordOwnChange(
  { store, factory }: { readonly store: Store; readonly factory: string | null },
  operation: string,
  subject: string,
): Promise<void> {
  const who = { kind: 'user' as const, name: findUserName() };
  const entry = { who, from: hostname(), operation, factory, subject };
  await recordChange({ store, now: () => new Date() }, entry).catch((error: Error) =>
    printStatus(`hookmill: the change was made, but is not in the audit log: ${error.message}`),
  );
}

/** The name of the user; in a container, there may be only a number. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
