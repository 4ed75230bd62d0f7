import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const periodUs = 20_000;

/**
 * Holds each process to a share of one CPU, with a control group of the kernel for each (version 1 or 2). This needs root.
 * Returns a function that ends this.
 */
export function limitCpu(pids: readonly number[], percent: number): () => void {
  const quotaUs = Math.round((periodUs * percent) / 100);
  const groups = pids.map(pid => {
    const group = makeGroup(`hookmill-bench-${pid}`, quotaUs);
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
    return group;
  });
  return () => {
    for (const [index, group] of groups.entries()) {
      writeFileSync(join(group, '../cgroup.procs'), String(pids[index]));
      rmdirSync(group);
    }
  };
}

function makeGroup(name: string, quotaUs: number): string {
  const isVersion1 = existsSync('/sys/fs/cgroup/cpu');
  const parent = isVersion1 ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup';
  const limits = isVersion1
    ? { 'cpu.cfs_period_us': periodUs, 'cpu.cfs_quota_us': quotaUs }
    : { 'cpu.max': `${quotaUs} ${periodUs}` };
  if (!isVersion1) writeFileSync(join(parent, 'cgroup.subtree_control'), '+cpu');
  mkdirSync(join(parent, name));
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(parent, name, file), String(value));
  return join(parent, name);
}
