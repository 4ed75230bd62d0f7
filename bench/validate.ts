// Measures `hookmill validate`: files per second over many definitions, and the time of a whole process on a few,
// compared with an empty Node process. The cases take turns within one run; the fastest of each counts, because other
// load on the machine disturbed it least.
// Usage: npm run bench:validate [-- --files 10000 --rounds 5 --starts 20]
import { join } from 'node:path';
import { execa } from 'execa';
import { type BenchFactory, bin, inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseOptions } from './support/options.ts';
import { round } from './support/statistics.ts';
import { measureFastest } from './support/timing.ts';

const { files, rounds, starts } = parseOptions({ files: 10_000, rounds: 5, starts: 20 });
const webhooksOfFactory = 20;
const examples = join(import.meta.dirname, '../examples');

const webhook = `authMode: signature
signatureScheme: github
secretName: GITHUB_WEBHOOK
deliveryIdHeader: X-Event-Id
enabled: true
`;
const automation = `enabled: true
prompt: |
  Triage this error. Say which change caused it.
  Open a pull request that mends it.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook_ids: [wh_0123456789abcdefghijklmn]
      payload:
        action: [created, reopened]
        issue: { level: { in: [error, fatal] }, muted: { exists: false } }
`;

await inTemporaryDirectory(async directory => {
  const { write } = openFactory(directory);
  const factories = writeWebhooks(write);
  for (let i = 0; i < files; i++)
    write(
      `automations-only/automations/a${i}.yaml`,
      automation.replace('prompt: |', `prompt: |\n  Number ${i}.`),
    );
  const run = async (...args: string[]) =>
    (await execa(process.execPath, args, { cwd: directory })).durationMs;
  const large = {
    webhooks: () => run(bin, 'validate', ...factories),
    automations: () => run(bin, 'validate', 'automations-only'),
  };
  const small = { empty: () => run('-e', '0'), validate: () => run(bin, '-C', examples, 'validate') };
  const whole = await measureFastest(large, rounds);
  const few = await measureFastest(small, starts);
  console.table({
    [`${files} webhooks in ${factories.length} factories`]: filesPerSecond(whole.webhooks),
    [`${files} automations`]: filesPerSecond(whole.automations),
  });
  console.table({
    'node -e 0': { ms: Math.round(few.empty) },
    'validate the examples': {
      ms: Math.round(few.validate),
      'times node -e 0': round(few.validate / few.empty, 2),
    },
  });
});

function writeWebhooks(write: BenchFactory['write']): string[] {
  return Array.from({ length: Math.ceil(files / webhooksOfFactory) }, (_, index) => {
    const factory = `factories/f${index}`;
    write(`${factory}/hookmill.yaml`, `factory: f${index}\n`);
    for (let i = 0; i < webhooksOfFactory; i++) write(`${factory}/webhooks/w${i}.yaml`, webhook);
    return factory;
  });
}

function filesPerSecond(ms: number) {
  return { ms: Math.round(ms), 'files a second': Math.round((files / ms) * 1000) };
}
