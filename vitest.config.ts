import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testLimitMs } from './test/support/test-limit.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tests that inject faults do so many times, or only often enough to see the behaviour. */
    readonly isLong: boolean;
  }
}

/**
 * Vitest begins with large files, many of which wait for daemons more than they compute. So a small one follows each of
 * them. The short ones of the stores' conformance suites run longest.
 */
class Alternating extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isConformance = ({ moduleId }: TestSpecification) => moduleId.endsWith('-store.test.ts');
    const others = sorted.filter(file => !isConformance(file));
    const small = others.splice(Math.ceil(others.length / 2));
    const alternating = others.flatMap((large, index) => [large, ...small.slice(index, index + 1)]);
    return [...sorted.filter(isConformance), ...alternating];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: testLimitMs,
    hookTimeout: testLimitMs,
    expect: { poll: { timeout: testLimitMs, interval: 100 } },
    provide: { isLong: false },
    pool: 'forks',
    // Test files of a process share modules, whose loading takes as long as many tests: no module keeps anything of a test.
    isolate: false,
    setupFiles: ['test/support/file-setup.ts'],
    // More than the cores of a small machine, because tests often wait for processes and disks.
    maxWorkers: 5,
    sequence: { sequencer: Alternating },
    execArgv: ['--require', fileURLToPath(new URL('test/support/built-threads.cjs', import.meta.url))],
    // Tests compare text without colours, whatever the terminal or CI that runs them has.
    env: { FORCE_COLOR: '0' },
  },
});
