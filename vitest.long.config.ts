import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

const limitMs = 600_000;

/** `npm run test:long`: the faults and simulations of `npm test`, many times over, hostile commands, a short run of a benchmark, and the image. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: ['test/support/global-setup.ts'],
    include: [
      'test/**/*-{crash,fuzz}.test.ts',
      'test/**/durability.test.ts',
      'test/cli/audit-faults.test.ts',
      'test/bench/accept-path.test.ts',
      'test/daemon/runs/hostile-command.test.ts',
      'test/operations/health/judge-health.test.ts',
      'test/dashboard/live-list.test.ts',
      'test/deploy/image.test.ts',
    ],
    provide: { isLong: true },
    testTimeout: limitMs,
    expect: { poll: { timeout: limitMs, interval: 25 } },
  },
});
