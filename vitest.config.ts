import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testLimitMs } from './test/support/test-limit.ts';

type ProjectConfig = NonNullable<TestProjectInlineConfiguration['test']>;

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tests that inject faults do so many times, or only often enough to see the behaviour. */
    readonly isLong: boolean;
  }
}

/** Files that start no process, server or thread, and open no store, in all folders but `schema` and `signatures`. */
const pureFiles = {
  '.': ['architecture'],
  build: ['update-parts'],
  cli: ['commands/definitions/plan-markdown', 'formats/formats', 'markdown', 'render/*', 'take-sockets'],
  daemon: [
    ...['http/window-counter', 'ingress/time-share', 'management/follow-replicas', 'receivers/retry-after'],
    ...['runs/run-message', 'runs/runners/http-template', 'served/in-slices', 'settings'],
  ],
  dashboard: ['state/*', 'text/*'],
  docs: ['links', 'security'],
  faults: ['find-violations'],
  operations: [
    ...['access/new-webhook-secret', 'alerts/follow-episodes', 'back-off', 'checks/*', 'health/judge-health'],
    ...['impact/*', 'plan/compare-definitions'],
  ],
  sources: ['repository/repository'],
  store: ['look-regularly'],
};

/** The test files of each project. `test/architecture.test.ts` checks that those of `unit` are pure. */
export const unitFiles: string[] = [
  'test/{json,schema,signatures}/**/*.test.ts',
  ...Object.entries(pureFiles).flatMap(([folder, names]) =>
    names.map(name => `test/${folder}/${name}.test.ts`),
  ),
];
const browserFiles = ['test/dashboard/*.test.ts'];
/** Files whose tests take minutes of processor time, because each round starts daemons again: only `test:long` has them. */
export const longFiles: string[] = [
  'test/cli/commands/{listen,store-copy}-crash.test.ts',
  'test/daemon/alerts-crash.test.ts',
  'test/daemon/runs/{flow-crash,hostile-command,run-crash}.test.ts',
  'test/deploy/rolling-restart.test.ts',
  'test/operations/branch/reconcile-crash.test.ts',
  'test/store/postgres/pooler.test.ts',
];

/**
 * A process of tests works for one project, so the files of a project follow each other. The browser's come first, and
 * the short ones of `unit` last. Vitest begins with large files, many of which wait for daemons more than they compute.
 * So a small one follows each of them.
 */
class Alternating extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return ['browser', 'system', 'unit', ''].flatMap(name => {
      const large = sorted.filter(({ project }) => project.name === name);
      const small = large.splice(Math.ceil(large.length / 2));
      return large.flatMap((file, index) => [file, ...small.slice(index, index + 1)]);
    });
  }
}

/** What all tests share, whatever their configuration. */
export const shared = {
  testTimeout: testLimitMs,
  hookTimeout: testLimitMs,
  expect: { poll: { timeout: testLimitMs, interval: 100 } },
  provide: { isLong: false },
  // More than the cores of a small machine, because tests often wait for processes and disks.
  maxWorkers: 6,
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

export default defineConfig({
  test: {
    sequence: { sequencer: Alternating },
    projects: [
      { extends: false, test: { ...shared, name: 'unit', include: unitFiles } },
      {
        extends: false,
        test: {
          ...{ ...shared, name: 'system', globalSetup },
          include: ['test/**/*.test.ts'],
          exclude: [...unitFiles, ...browserFiles, ...longFiles, 'test/attacks/**'],
        },
      },
      { extends: false, test: { ...shared, name: 'browser', globalSetup, include: browserFiles } },
    ],
  },
});
