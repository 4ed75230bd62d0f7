// Measures `hookmill validate`: files per second over many definitions, and the time of a whole process on a few,
// compared with an empty Node process. The cases take turns within one run; the fastest of each counts, because other
// load on the machine disturbed it least.
// Usage: npm run bench:validate [-- --files 10000 --rounds 5 --starts 20]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { inTemporaryDirectory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { round } from './support/statistics.ts';

const { files, rounds, starts } = parseNumbers({ files: 10_000, rounds: 5, starts: 20 });
const webhooksOfFactory = 20;

const bin = join(import.meta.dirname, '../cli/bin.js');
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
  const factories = writeWebhooks(directory);
  writeAutomations(directory);
  const empty = ['-e', '0'];
  const whole = race(directory, rounds, {
    webhooks: [bin, 'validate', ...factories],
    automations: [bin, 'validate', 'automations-only'],
  });
  const few = race(directory, starts, { empty, validate: [bin, '-C', examples, 'validate'] });
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

function writeWebhooks(directory: string): string[] {
  return Array.from({ length: Math.ceil(files / webhooksOfFactory) }, (_, factory) => {
    const folder = `factories/f${factory}`;
    mkdirSync(join(directory, folder, 'webhooks'), { recursive: true });
    for (let i = 0; i < webhooksOfFactory; i++) {
      writeFileSync(join(directory, folder, `webhooks/w${i}.yaml`), webhook);
    }
    return folder;
  });
}

function writeAutomations(directory: string): void {
  const folder = join(directory, 'automations-only/automations');
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < files; i++)
    writeFileSync(join(folder, `a${i}.yaml`), automation.replace('prompt: |', `prompt: |\n  Number ${i}.`));
}

/** Returns the fastest run of each command, in ms, from the start to the end of its process. */
function race<Name extends string>(
  cwd: string,
  rounds: number,
  commands: Record<Name, string[]>,
): Record<Name, number> {
  const quickest = Object.fromEntries(Object.keys(commands).map(name => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries<string[]>(commands)) {
      const { durationMs } = execaSync(process.execPath, args, { cwd });
      quickest[name] = Math.min(quickest[name] ?? 0, durationMs);
    }
  }
  return quickest as Record<Name, number>;
}

function filesPerSecond(ms: number) {
  return { ms: Math.round(ms), 'files a second': Math.round((files / ms) * 1000) };
}
