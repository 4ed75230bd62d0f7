import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** Tests that open no store of a home. */
const withoutHome = [
  'http/connection-load',
  'management/dashboard-files',
  'management/live-deliveries',
  'observability/daemon-log',
  'runs/run-record',
];
/** Tests that make their own databases, which `npm test` runs. */
const withOwnDatabases = ['replicas', 'management/guards/replica-sessions'];
/** Tests of what happens to a full disk, to SQLite, or to the files of applied states and sessions. */
const aboutFiles = ['log-faults', 'management/guards/sessions', 'served/served-states'];
/** Tests that let ten minutes pass between two looks at a provider: in a database, its own clock says whose turn that is. */
const withTurns = ['senders'];

/** `npm run test:postgres`: the tests of the daemon again, with a database in place of each home. */
export default defineConfig({
  test: {
    ...shared,
    // Where daemons are killed, each round waits until others see that.
    testTimeout: 600_000,
    // A killed daemon's runs are taken over when its lease has ended.
    expect: { poll: { timeout: 120_000, interval: 100 } },
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/system/daemon/**/*.test.ts'],
    exclude: [...withoutHome, ...withOwnDatabases, ...aboutFiles, ...withTurns].map(
      name => `test/system/daemon/${name}.test.ts`,
    ),
    // Each file has a database of its own, which its modules know.
    isolate: true,
    setupFiles: ['test/support/file-setup.ts', 'test/support/postgres-homes.ts'],
  },
});
