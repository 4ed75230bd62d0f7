import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { bearerOf, startDaemonForTest, type TestDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const deploy = join(import.meta.dirname, '../../../deploy');
const rulesFile = 'hookmill.rules.yaml';
// Both programs are in the Debian package prometheus.
const isPrometheusMissing = ['promtool', 'prometheus'].some(
  program => execaSync(program, ['--version'], { reject: false }).exitCode !== 0,
);
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

test.skipIf(isPrometheusMissing)('each alert is raised by what it is for, and by nothing else', () => {
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

test.skipIf(isPrometheusMissing)('Prometheus counts the first events of an automation', async () => {
  const workspace = makeWorkspace();
  const settings = {
    runs: { attempts: 1, runner: { kind: 'command', argv: ['sh', '-c', 'exit 1'] } },
  };
  await applyFailing(workspace, {
    fails: '',
    loops: 'runsPerHour: 1\n',
    held: 'order: $.lane\nonFailure: hold\n',
  });
  const daemon = await startDaemonForTest({ workspace, settings });
  const prometheus = await startPrometheus(workspace, daemon);
  const read = async (query: string): Promise<number | undefined> => {
    const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data } = (await answer.json()) as {
      readonly data: { readonly result: { value: [number, string] }[] };
    };
    return data.result[0] && Number(data.result[0].value[1]);
  };
  // Only now does an increase count.
  await eventually(async () => (await read('count(hookmill_run_attempts_total == 0)')) === 24);
  await eventually(async () => (await read('hookmill_runs_holding')) === 0);
  const secret = 'a-secret-of-thirty-two-characters';
  const { webhooks } = JSON.parse(workspace.read('.hookmill/applied/default.json'));
  for (const { name, uid } of webhooks as { name: string; uid: string }[]) {
    for (let count = 0; count < (name === 'held' ? 1 : 3); count++) {
      const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
      expect(await send(url, { headers: bearerOf(secret), body: `{"count":${count}}` })).toMatchObject({
        status: 202,
      });
    }
  }
  const fired = async () => {
    const answer = await fetch(`${prometheus}/api/v1/alerts`);
    const { data } = (await answer.json()) as {
      readonly data: { readonly alerts: { labels: Record<string, string> }[] };
    };
    return data.alerts.map(({ labels }) => `${labels.alertname} ${labels.automation ?? ''}`.trim()).sort();
  };
  const expected = ['HookmillRunsFail fails', 'HookmillRunsHeld', 'HookmillRunsStopped loops'];
  await eventually(async () => (await fired()).length >= expected.length);
  expect(await fired()).toEqual(expected);
});

/** Applies a webhook and an automation for each name, with these keys of the automation. */
async function applyFailing(
  workspace: Workspace,
  automations: Readonly<Record<string, string>>,
): Promise<void> {
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'a-secret-of-thirty-two-characters' });
  for (const name of Object.keys(automations))
    workspace.write(`webhooks/${name}.yaml`, 'secretName: TOKEN\n');
  await workspace.hookmill('apply');
  const { webhooks } = JSON.parse(workspace.read('.hookmill/applied/default.json'));
  for (const { name, uid } of webhooks as { name: string; uid: string }[]) {
    const trigger = { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } };
    const text = `prompt: Act.\n${automations[name]}triggers: [${JSON.stringify(trigger)}]\n`;
    workspace.write(`automations/${name}.yaml`, text);
  }
  const applied = await workspace.hookmill('apply');
  expect(applied).toMatchObject({ exitCode: 0 });
}

/** Starts a Prometheus that reads the metrics of a daemon each second and has the alerts that are shipped. Returns its URL. */
async function startPrometheus(workspace: Workspace, { managementUrl }: TestDaemon): Promise<string> {
  const address = `127.0.0.1:${await findFreePort()}`;
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(deploy, 'prometheus', rulesFile)],
    scrape_configs: [{ job_name: 'hookmill', static_configs: [{ targets: [new URL(managementUrl).host] }] }],
  };
  workspace.write('prometheus.yaml', JSON.stringify(config));
  const args = [
    '--config.file',
    workspace.path('prometheus.yaml'),
    '--storage.tsdb.path',
    workspace.path('tsdb'),
  ];
  const server = execa('prometheus', [...args, '--web.listen-address', address], {
    reject: false,
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await server;
  });
  const url = `http://${address}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady);
  return url;
}
