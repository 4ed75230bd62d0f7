import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

const limitMs = 600_000;

const long = {
  ...shared,
  globalSetup: ['test/support/global-setup.ts'],
  provide: { isLong: true },
  testTimeout: limitMs,
  // Shorter, so that a failure says what it waited for.
  expect: { poll: { timeout: limitMs / 5, interval: 25 } },
};

/** Tests of other folders that do more when they are told that they may take long. */
const withMore = globSync('test/{unit,system,browser}/**/*.test.ts', { cwd: import.meta.dirname }).filter(
  file => /isLong|describe-store/.test(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')),
);
const attacks = 'test/long/attacks/*.test.ts';

/** `npm run test:long`: what takes long, and many more faults, simulations and rounds than `npm test` has. */
export default defineConfig({
  test: {
    projects: [
      {
        extends: false,
        test: {
          ...long,
          name: 'long',
          include: ['test/long/**/*.test.ts', ...withMore],
          exclude: [attacks],
        },
      },
      {
        extends: false,
        // After the others, because what an honest delivery waits is measured.
        test: { ...long, name: 'attacks', include: [attacks], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
