import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execaSync } from 'execa';
import { definitionBytesMax } from '../../schema/definitions/yaml-source.ts';

const fixtures = join(import.meta.dirname, '../fixtures/corpus');

export interface Corpus {
  readonly directory: string;
  /** Names of folders, each a definitions directory with one mistake. */
  readonly mistakes: readonly string[];
}

/** Copies `test/fixtures/corpus`, and adds mistakes that git cannot store or that are too large for it. */
export function makeCorpus(): Corpus {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'corpus-')));
  cpSync(fixtures, directory, { recursive: true, verbatimSymlinks: true });
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), content);
  };
  const webhook = 'secretName: DEPLOYS_TOKEN\n';
  write('file-too-large/webhooks/deploys.yaml', '#'.repeat(definitionBytesMax + 1));
  write('file-names-alike/webhooks/deploys.yaml', webhook);
  write('file-names-alike/webhooks/Deploys.yaml', webhook);
  write('file-a-pipe/webhooks/orders.yaml', webhook);
  execaSync('mkfifo', [join(directory, 'file-a-pipe/webhooks/deploys.yaml')]);
  write(
    'prompt-too-large/automations/triage.yaml',
    `prompt: ${'Do it. '.repeat(5_000)}\ntriggers:\n  - provider: webhook\n    event: received\n    filter: { webhook_ids: [wh_0123456789abcdefghijklmn] }\n`,
  );
  for (let n = 1; n <= 21; n++) write(`webhooks-too-many/webhooks/deploys-${n}.yaml`, webhook);
  const folders = readdirSync(directory, { withFileTypes: true }).filter(entry => entry.isDirectory());
  const mistakes = folders.map(({ name }) => name).sort();
  for (const name of mistakes)
    if (!existsSync(join(directory, name, 'hookmill.yaml')))
      write(`${name}/hookmill.yaml`, `factory: ${name}\n`);
  return { directory, mistakes };
}
