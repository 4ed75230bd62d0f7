import { defineConfig } from 'vitest/config';
import { testLimitMs } from './test/support/test-limit.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tests that inject faults do so many times, or only often enough to see the behaviour. */
    readonly isLong: boolean;
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: testLimitMs,
    hookTimeout: testLimitMs,
    expect: { poll: { timeout: testLimitMs, interval: 25 } },
    provide: { isLong: false },
    pool: 'forks',
    // Test files of a process share modules, whose loading takes as long as many tests: no module keeps anything of a test.
    isolate: false,
    setupFiles: ['test/support/file-setup.ts'],
    // Twice the cores of a small machine, because tests often wait for processes and disks.
    maxWorkers: 4,
    execArgv: ['--import', new URL('test/support/built-threads.ts', import.meta.url).href],
    // Tests compare text without colours, whatever the terminal or CI that runs them has.
    env: { FORCE_COLOR: '0' },
  },
});
