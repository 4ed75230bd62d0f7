import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // What is compared is text: whether the terminal or CI that runs the tests has colours is not to matter.
    env: { FORCE_COLOR: '0' },
  },
});
