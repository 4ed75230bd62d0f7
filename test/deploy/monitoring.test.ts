import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startDaemonForTest } from '../support/daemon.ts';
import { makeWorkspace } from '../support/workspace.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const rulesFile = 'hookmill.rules.yaml';
const isPromtoolMissing = execaSync('promtool', ['--version'], { reject: false }).exitCode !== 0;
const read = (file: string) => readFileSync(join(deploy, file), 'utf8');

interface Board {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

function listMetrics(text: string): Set<string> {
  return new Set(text.match(/\bhookmill_[a-z_]+/g));
}

test('alerts and the board use only metrics that a daemon has', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  const daemon = await startDaemonForTest({ workspace });
  const known = new Set([
    ...listMetrics(await daemon.metrics()),
    // Those of replicas, and of factories that follow a branch.
    ...['hookmill_reconcile_failing', 'hookmill_replicas', 'hookmill_standby_lag_ms'],
  ]);
  const { groups } = parse(read(`prometheus/${rulesFile}`));
  const rules: string[] = groups.flatMap(({ rules }: { rules: { expr: string }[] }) =>
    rules.map(({ expr }) => expr),
  );
  const { panels }: Board = JSON.parse(read('grafana/hookmill.json'));
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const used = [...listMetrics([...rules, ...shown].join('\n'))];
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter(metric => !known.has(metric))).toEqual([]);
});

// Needs the program promtool, of the Debian package prometheus.
test.skipIf(isPromtoolMissing)('each alert is raised by what it is for, and by nothing else', () => {
  const cwd = join(deploy, 'prometheus');
  execaSync('promtool', ['check', 'rules', rulesFile], { cwd });
  execaSync('promtool', ['test', 'rules', 'hookmill.rules.test.yaml'], { cwd });
  const { groups } = parse(read(`prometheus/${rulesFile}`));
  const tested = read('prometheus/hookmill.rules.test.yaml');
  const alerts: string[] = groups.flatMap(({ rules }: { rules: { alert: string }[] }) =>
    rules.map(({ alert }) => alert),
  );
  expect(alerts.filter(alert => !tested.includes(`alertname: ${alert}\n`))).toEqual([]);
});
