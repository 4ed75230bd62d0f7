// Measures everything about the path of an accepted delivery, each figure beside its comparison: deliveries accepted per
// second, their processor time, floods of 404 and 401, latency at a steady rate, a full log, and what the disk allows.
// The cases take turns, round after round, so that other load on the machine affects all equally; the first round only
// warms up. All get the same requests from the same client. docs/performance.md says how to read the table.
// Usage: npm run bench [-- --seconds 3 --rounds 5 --connections 64 --rows 10000000 --json FILE]
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Cases, startCases } from './accept-path/cases.ts';
import { computeFigures, renderFigure, type Samples } from './accept-path/figures.ts';
import { parseOptions } from './support/options.ts';
import { withPostgres } from './support/postgres.ts';
import { median, round } from './support/statistics.ts';
import { measureInTurn } from './support/timing.ts';

const { json, ...options } = parseOptions({
  ...{ seconds: 3, rounds: 5, connections: 64 },
  ...{ rows: 10_000_000, json: '' },
});
const date = new Date().toISOString();
const loadBefore = loadavg();

await withPostgres(async (directory, postgres) => {
  const { measures, versions } = await startCases(directory, postgres, options);
  const samples = await measureInTurn(measures, options.rounds, turn => {
    console.error(turn === 0 ? 'warming up' : `round ${turn} of ${options.rounds}`);
  });
  report(samples, describeSetting(versions));
});

function describeSetting(programs: Cases['versions']) {
  const root = join(import.meta.dirname, '..');
  const versionIn = (directory: string): string =>
    JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')).version;
  const packages = ['koa', 'autocannon', 'pg', 'redis'];
  const installed = packages.map(name => [name, versionIn(`node_modules/${name}`)]);
  return {
    date,
    machine: {
      system: `${process.platform} ${release()}`,
      processor: cpus()[0]?.model,
      cores: cpus().length,
      memoryGiB: round(totalmem() / 2 ** 30),
      loadBefore: loadBefore.map(value => round(value)),
    },
    versions: {
      hookmill: versionIn('.'),
      node: process.versions.node,
      ...Object.fromEntries(installed),
      ...programs,
    },
    options,
  };
}

function report(samples: Samples, setting: ReturnType<typeof describeSetting>): void {
  const figures = computeFigures(samples);
  const { processor, cores, memoryGiB } = setting.machine;
  console.table(figures.map(renderFigure));
  const clientUs = Object.values(samples).flatMap(rounds => rounds.flatMap(sample => sample.clientUs ?? []));
  console.log(
    `Medians of ${options.rounds} rounds of ${options.seconds} s, ${options.connections} connections, 1 KB bodies, ${options.rows} rows in the full log.
The client takes ${round(median(clientUs))} µs of processor time for a request, and shares the cores with the servers.
${processor}, ${cores} cores, ${memoryGiB} GiB; load before: ${setting.machine.loadBefore.join(', ')}
${Object.entries(setting.versions)
  .map(([name, version]) => `${name} ${version ?? 'not installed'}`)
  .join(', ')}`,
  );
  if (json) writeFileSync(json, JSON.stringify({ ...setting, figures, samples }, null, 2));
}
