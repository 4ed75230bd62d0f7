import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { stepLimitMs, testLimitMs } from './test/support/test-limit.ts';

type ProjectConfig = NonNullable<TestProjectInlineConfiguration['test']>;

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tests that inject faults do so many times, or only often enough to see the behaviour. */
    readonly isLong: boolean;
  }
}

/** What all tests share, whatever their configuration. */
export const shared = {
  testTimeout: testLimitMs,
  hookTimeout: testLimitMs,
  expect: { poll: { timeout: stepLimitMs, interval: 100 } },
  provide: { isLong: false },
  // More than the cores of a small machine, because tests often wait for processes and disks. With more of them, the same
  // tests take more of the processor.
  maxWorkers: 4,
  pool: 'forks',
  // Test files of a process share modules, whose loading takes as long as many tests: no module keeps anything of a test.
  isolate: false,
  setupFiles: ['test/support/file-setup.ts'],
  execArgv: ['--require', fileURLToPath(new URL('test/support/built-threads.cjs', import.meta.url))],
  // Tests compare text without colours, whatever the terminal or CI that runs them has.
  env: { FORCE_COLOR: '0' },
  // Node.js itself loads all modules, each process for itself: nothing needs Vite, whose one process would let all others wait.
  experimental: { viteModuleRunner: false, nodeLoader: false },
} as const satisfies ProjectConfig;

const globalSetup = ['test/support/global-setup.ts'];

/** The folders of tests, each with a project of its name. What `test/long/` has, only `npm run test:long` runs. */
const folders = {
  /** Start no process, server or thread, and open no store: `test/unit/architecture.test.ts` checks it. */
  unit: {},
  system: { globalSetup },
  browser: { globalSetup },
};

export default defineConfig({
  test: {
    projects: Object.entries(folders).map(([name, setup]) => ({
      extends: false,
      test: { ...shared, ...setup, name, include: [`test/${name}/**/*.test.ts`] },
    })),
  },
});
