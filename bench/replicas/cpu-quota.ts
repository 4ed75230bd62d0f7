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
  if (existsSync('/sys/fs/cgroup/cpu')) {
    const group = join('/sys/fs/cgroup/cpu', name);
    mkdirSync(group);
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quotaUs));
    return group;
  }
  const group = join('/sys/fs/cgroup', name);
  writeFileSync('/sys/fs/cgroup/cgroup.subtree_control', '+cpu');
  mkdirSync(group);
  writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${periodUs}`);
  return group;
}
