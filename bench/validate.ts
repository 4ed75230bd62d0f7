// Measures `hookmill validate`: files per second over many definitions, and the time of a whole process on a few,
// compared with an empty Node process. The cases take turns within one run; the fastest of each counts, because other
// load on the machine disturbed it least.
// Usage: npm run bench:validate [-- --files 10000 --rounds 5 --starts 20]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    starts: { type: 'string', default: '20' },
  },
});
const files = Number(values.files);
const webhooksOfFactory = 20;

const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
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
  Open a pull request that fixes it.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook_ids: [wh_0123456789abcdefghijklmn]
      payload:
        action: [created, reopened]
        issue: { level: { in: [error, fatal] }, muted: { exists: false } }
`;

try {
  const factories = writeWebhooks();
  writeAutomations();
  const empty = ['-e', '0'];
  const quickest = race(Number(values.rounds), {
    webhooks: [bin, 'validate', ...factories],
    automations: [bin, 'validate', 'automations-only'],
  });
  const starts = race(Number(values.starts), { empty, validate: [bin, '-C', examples, 'validate'] });
  console.table({
    [`${files} webhooks in ${factories.length} factories`]: filesPerSecond(quickest.webhooks),
    [`${files} automations`]: filesPerSecond(quickest.automations),
  });
  console.table({
    'node -e 0': { ms: Math.round(starts.empty) },
    'validate the examples': {
      ms: Math.round(starts.validate),
      'times node -e 0': Number((starts.validate / starts.empty).toFixed(2)),
    },
  });
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function writeWebhooks(): string[] {
  return Array.from({ length: Math.ceil(files / webhooksOfFactory) }, (_, factory) => {
    const folder = `factories/f${factory}`;
    mkdirSync(join(directory, folder, 'webhooks'), { recursive: true });
    for (let i = 0; i < webhooksOfFactory; i++) {
      writeFileSync(join(directory, folder, `webhooks/w${i}.yaml`), webhook);
    }
    return folder;
  });
}

function writeAutomations(): void {
  const folder = join(directory, 'automations-only/automations');
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < files; i++) writeFileSync(join(folder, `a${i}.yaml`), automation);
}

/** The time of the fastest run of each command, whole process, in ms. */
function race<Name extends string>(rounds: number, commands: Record<Name, string[]>): Record<Name, number> {
  const quickest = Object.fromEntries(Object.keys(commands).map(name => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, args] of Object.entries<string[]>(commands)) {
      const { durationMs } = execaSync(process.execPath, args, { cwd: directory });
      quickest[name] = Math.min(quickest[name] ?? 0, durationMs);
    }
  }
  return quickest as Record<Name, number>;
}

function filesPerSecond(ms: number) {
  return { ms: Math.round(ms), 'files per second': Math.round((files / ms) * 1000) };
}
