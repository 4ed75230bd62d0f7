import { defineConfig } from 'vitest/config';
import { longFiles, shared } from './vitest.config.ts';

const limitMs = 600_000;

const long = {
  ...shared,
  globalSetup: ['test/support/global-setup.ts'],
  provide: { isLong: true },
  testTimeout: limitMs,
  // Shorter, so that a failure says what it waited for.
  expect: { poll: { timeout: limitMs / 5, interval: 25 } },
};

/** `npm run test:long`: what takes long, the faults and simulations of `npm test` many times over, a short run of a benchmark, the image, and attacks. */
export default defineConfig({
  test: {
    projects: [
      {
        extends: false,
        test: {
          ...long,
          name: 'long',
          include: [
            ...longFiles,
            'test/**/*-{crash,fuzz}.test.ts',
            'test/**/durability.test.ts',
            'test/cli/commands/{audit-faults,key-rotate,store-backup,store-copy}.test.ts',
            'test/daemon/runs/run-recovery.test.ts',
            'test/daemon/socket-activation.test.ts',
            'test/store/embedded/store-runs.test.ts',
            'test/store/postgres/store-runs.test.ts',
            'test/bench/accept-path.test.ts',
            'test/operations/health/judge-health.test.ts',
            'test/simulation/simulation.test.ts',
            'test/dashboard/{layout-shift,live-list}.test.ts',
            'test/deploy/image.test.ts',
          ],
        },
      },
      {
        extends: false,
        // After the others, because what an honest delivery waits is measured.
        test: { ...long, name: 'attacks', include: ['test/attacks/*.test.ts'], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
