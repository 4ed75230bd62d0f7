import { readFileSync } from 'node:fs';

/** Reads the metrics without labels, by name. */
export async function readMetrics(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(url)).text();
  return new Map(
    Array.from(text.matchAll(/^(\w+) (\S+)$/gm), ([, name = '', value]) => [name, Number(value)]),
  );
}

/** Counts the webhooks that a daemon serves. */
export async function countWebhooks(managementUrl: string): Promise<number> {
  const { factories } = (await (await fetch(`${managementUrl}/readyz`)).json()) as {
    readonly factories: readonly { readonly webhooks: number }[];
  };
  return factories.reduce((sum, { webhooks }) => sum + webhooks, 0);
}

/** Reads a number of `/proc/PID/status`. Linux only. */
export function readStatus(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
}

/** Reads an amount of memory in `/proc/PID/status`, in MB of 10^6 bytes. */
export function readMemoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return (readStatus(pid, field) * 1_024) / 1e6;
}
