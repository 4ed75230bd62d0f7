import { expect, test } from 'vitest';

test('the SQLite of Node.js has no known defect that damages a log', () => {
  // Before 3.51.3, a checkpoint beside another connection's commit may lose pages (https://sqlite.org/wal.html#walresetbug).
  const [major = 0, minor = 0, patch = 0] = (process.versions.sqlite ?? '').split('.').map(Number);
  expect(major * 1_000_000 + minor * 1_000 + patch).toBeGreaterThanOrEqual(3_051_003);
});
