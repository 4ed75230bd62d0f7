import type { ClientBase } from 'pg';
import { DeliveryLogError } from '../../delivery-log-error.ts';

/**
 * Fails with `unsafe` if the server confirms commits that a crash may undo: a 202 means committed as durably as the
 * cluster is configured to. `mayLose` accepts such a server.
 */
export async function requireDurable(client: ClientBase, mayLose: boolean): Promise<void> {
  if (mayLose) return;
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes')",
  );
  const off = rows.filter(({ setting }) => setting === 'off').map(({ name }) => name);
  if (off.length === 0) return;
  const message = `PostgreSQL has ${off.join(' and ')} off, so deliveries that were answered with 202 may be lost in a crash; set it to on, or set HOOKMILL_STORE_MAY_LOSE=accepted-deliveries`;
  throw new DeliveryLogError('unsafe', message);
}
