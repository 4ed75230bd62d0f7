import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { stepLimitMs, testLimitMs } from './test/support/test-limit.ts';

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
  cli: [
    'commands/definitions/plan-markdown',
    'formats/formats',
    'markdown',
    'render/*',
    'senders/*',
    'service-manager',
  ],
  daemon: [
    ...['http/window-counter', 'ingress/time-share', 'management/follow-replicas'],
    ...['runs/run-message', 'runs/runners/http-template', 'served/in-slices', 'settings'],
  ],
  dashboard: ['state/*', 'text/*'],
  docs: ['editor-schemas', 'links', 'security'],
  faults: ['find-violations'],
  operations: [
    ...['access/new-webhook-secret', 'alerts/follow-episodes', 'checks/*', 'health/judge-health'],
    ...['impact/*', 'plan/compare-definitions', 'plan/destroyed-webhooks'],
  ],
  sources: ['cross-file-diagnostics', 'repository/repository'],
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
/** Files that only `test:long` runs, because they take much processor time: most start daemons or agents in each test. */
export const longFiles: string[] = [
  'test/cli/commands/{listen,store-copy}-crash.test.ts',
  'test/daemon/{alerts,missed}-crash.test.ts',
  'test/daemon/runs/{flow-crash,hostile-command,run-crash}.test.ts',
  'test/deploy/rolling-restart.test.ts',
  'test/docs/{agent-recipes,guides,recipes,safe-outputs}.test.ts',
  'test/mutants/mutants.test.ts',
  'test/operations/branch/reconcile-crash.test.ts',
  'test/store/embedded/store-reader.test.ts',
  'test/store/postgres/pooler.test.ts',
];

/**
 * Files that wait far longer than they compute: for the intervals in which the daemon looks, for time limits, or for a
 * server or a browser. The longest first.
 */
export const waitingFiles: string[] = [
  ...['dashboard/live-list', 'dashboard/accessibility', 'dashboard/layout-shift'],
  ...[
    'daemon/senders',
    'daemon/alerts',
    'daemon/log-faults',
    'daemon/runs/runners/command',
    'daemon/observability/traces',
  ],
  ...['store/postgres/store-runs', 'daemon/management/api/deliveries', 'daemon/served/served-states'],
  ...['daemon/replicas', 'daemon/runs/run-recovery', 'store/postgres/faults', 'daemon/runs/runs'],
  ...[
    'daemon/ingress/oidc-keys',
    'cli/commands/definitions/status',
    'daemon/runs/cancel',
    'cli/commands/why',
  ],
  ...['store/postgres/silent-network', 'daemon/runs/run-queue', 'daemon/http/http-server', 'daemon/daemon'],
  ...['store/embedded/delivery-log/failure', 'daemon/runs/callback', 'store/documents/resolve-references'],
].map(name => `test/${name}.test.ts`);

/**
 * A process of tests works for one project, so the files of a project follow each other. The browser's come first, and
 * the short ones of `unit` last. Files that wait begin early, each followed by one that computes meanwhile.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const turnOf = ({ moduleId }: TestSpecification) =>
      waitingFiles.findIndex(name => moduleId.endsWith(name));
    return ['browser', 'system', 'unit', ''].flatMap(name => {
      const ofProject = sorted.filter(({ project }) => project.name === name);
      const waiting = ofProject.filter(file => turnOf(file) >= 0).sort((a, b) => turnOf(a) - turnOf(b));
      const others = ofProject.filter(file => turnOf(file) < 0);
      const first = waiting.flatMap((file, index) => [file, ...others.slice(index, index + 1)]);
      return [...first, ...others.slice(waiting.length)];
    });
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

export default defineConfig({
  test: {
    sequence: { sequencer: WaitingFirst },
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
      {
        extends: false,
        test: { ...shared, name: 'browser', globalSetup, include: browserFiles },
      },
    ],
  },
});
