import { linkSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAutomation } from '../../../operations/applied/automations.ts';
import { planFactory } from '../../../operations/plan/plan-factory.ts';
import { automationShape, promptBytesMax } from '../../../schema/definitions/automation-definition.ts';
import { diagnosticsReportedMax } from '../../../schema/diagnostics.ts';
import { definitionFilesMax, describeExcess, factoryBytesMax } from '../../../schema/factory-size.ts';
import type { DefinitionFile } from '../../../sources/definitions.ts';
import { readDirectory } from '../../../sources/directory-source.ts';
import { parseDefinitions } from '../../../sources/parse-definitions.ts';
import { makeFactory } from '../../support/factory.ts';
import { startManagedDaemon } from '../../support/management.ts';

const uid = 'wh_0123456789abcdefghijklmn';

function automationFile(name: string, content: string): DefinitionFile {
  return { kind: 'automation', name, file: `automations/${name}.yaml`, bytes: Buffer.from(content) };
}

function manyFiles(count: number, content: string): DefinitionFile[] {
  return Array.from({ length: count }, (_, index) => automationFile(`a${index}`, content));
}

const definitionsIn = (files: readonly DefinitionFile[]) => parseDefinitions({ files, diagnostics: [] });

function triggerOf(payload: object) {
  return { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], payload } };
}

test('parses no file of a factory that has too many, and says how many it may have', () => {
  const { diagnostics, automations, texts, fileCount } = definitionsIn(
    manyFiles(definitionFilesMax + 1, '{'),
  );
  expect(diagnostics).toMatchObject([{ code: 'factory/too-large', severity: 'error' }]);
  expect(diagnostics[0]?.message).toBe(
    'there are 20001 files, and at most 20000 definition files are allowed',
  );
  expect([automations, texts.size, fileCount]).toEqual([[], 0, definitionFilesMax + 1]);
});

test('parses no file of a factory whose files have too many bytes together', () => {
  const size = 60_000;
  const files = manyFiles(Math.ceil(factoryBytesMax / size) + 1, ' '.repeat(size));
  expect(definitionsIn(files).diagnostics).toMatchObject([{ code: 'factory/too-large' }]);
});

test('counts the prompt files of a factory, and reads no more of them once they are too large together', () => {
  const directory = mkdtempSync(join(tmpdir(), 'prompts-'));
  for (const folder of ['automations', 'prompts']) mkdirSync(join(directory, folder));
  const count = Math.ceil(factoryBytesMax / promptBytesMax) + 9;
  for (let index = 0; index < count; index++) {
    const promptFile = `prompts/a${index}.txt`;
    writeFileSync(join(directory, promptFile), 'x'.repeat(promptBytesMax));
    const text = JSON.stringify({ promptFile, triggers: [triggerOf({})] });
    writeFileSync(join(directory, `automations/a${index}.yaml`), text);
  }
  const found = readDirectory(directory);
  expect(found.files).toHaveLength(count);
  expect(found.prompts?.size).toBe(factoryBytesMax / promptBytesMax + 1);
  expect(parseDefinitions(found).diagnostics).toMatchObject([{ code: 'factory/too-large' }]);
});

test('parses no more files once their filters are too large together', () => {
  const values = Array.from({ length: 490 }, (_, index) => index);
  const payload = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, values]));
  const files = Array.from({ length: 60 }, (_, index) => {
    const text = JSON.stringify({ prompt: `p${index}`, triggers: [triggerOf(payload)] });
    return automationFile(`a${index}`, text);
  });
  const { automations, diagnostics } = definitionsIn(files);
  expect(automations).toHaveLength(41);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    { code: 'factory/too-large', file: 'automations' },
  ]);
});

test('reads no file of a folder that has too many', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crowd-'));
  mkdirSync(join(directory, 'automations'));
  const file = join(directory, 'empty');
  writeFileSync(file, '');
  for (let index = 0; index <= definitionFilesMax; index++)
    linkSync(file, join(directory, 'automations', `a${index}.yaml`));
  const { files, diagnostics } = readDirectory(directory);
  expect(files).toEqual([]);
  expect(diagnostics).toMatchObject([{ code: 'factory/too-large', file: 'automations' }]);
});

test('a folder with nearly the right name may have any number of other files, of any size', () => {
  const directory = mkdtempSync(join(tmpdir(), 'near-'));
  for (const folder of ['webhooks', 'automation']) mkdirSync(join(directory, folder));
  writeFileSync(join(directory, 'webhooks', 'a.yaml'), 'secretName: TOKEN\n');
  const file = join(directory, 'large');
  writeFileSync(file, 'x'.repeat(60_000));
  for (let index = 0; index <= definitionFilesMax; index++)
    linkSync(file, join(directory, 'automation', `a${index}.py`));
  const found = readDirectory(directory);
  expect(found.files).toHaveLength(1);
  expect(parseDefinitions(found).diagnostics).toEqual([]);
});

test('refuses filters that are too large together, though each one is not', async () => {
  const values = Array.from({ length: 490 }, (_, index) => index);
  const payload = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, values]));
  const withTriggers = (name: string, count: number) => {
    const triggers = Array.from({ length: count }, () => triggerOf(payload));
    return { name, ...automationShape.parse({ prompt: 'p', triggers }) };
  };
  const factory = makeFactory();
  for (const name of ['a', 'b']) await createAutomation(factory, withTriggers(name, 20));
  const oneMore = withTriggers('one-more', 1);
  await expect(createAutomation(factory, oneMore)).rejects.toMatchObject({ code: 'factory-too-large' });

  const { automations } = await factory.readState();
  expect(describeExcess(automations)).toBeUndefined();
  expect(describeExcess([...automations, oneMore])).toBe(
    'the filters have more than 200000 keys and values, the most that one factory may have',
  );
});

test('refuses more than 2,000 patterns in all filters of a factory', () => {
  const $like = Array.from({ length: 50 }, (_, index) => `x${index}*`);
  const triggers = Array.from({ length: 20 }, () =>
    triggerOf({ a: { $like }, b: { c: { $not_like: $like } } }),
  );
  const automation = { name: 'many', ...automationShape.parse({ prompt: 'p', triggers }) };
  const one = automationShape.parse({ prompt: 'p', triggers: [triggerOf({ a: { $like: ['x*'] } })] });
  expect(describeExcess([automation])).toBeUndefined();
  expect(describeExcess([automation, { name: 'one-more', ...one }])).toBe(
    'the filters have more than 2000 patterns of $like and $not_like, the most that one factory may have',
  );
});

test('refuses a filter with too many keys and values, though no list is too long', () => {
  const values = Array.from({ length: 500 }, (_, index) => index);
  const payload = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`f${index}`, values]));
  const text = JSON.stringify({ prompt: 'p', triggers: [triggerOf(payload)] });
  const { diagnostics } = definitionsIn([automationFile('a', text)]);
  expect(diagnostics).toMatchObject([{ code: 'filter/too-large' }]);
  expect(diagnostics[0]?.message).toContain('5010 keys and values, and at most 5000');
});

test('refuses an automation with more than 100 triggers', () => {
  const triggers = Array.from({ length: 101 }, (_, index) => triggerOf({ a: [index] }));
  const { diagnostics } = definitionsIn([automationFile('a', JSON.stringify({ prompt: 'p', triggers }))]);
  expect(diagnostics).toMatchObject([{ message: 'triggers must have at most 100 items, not 101' }]);
});

test('a plan reports the first 100 of many mistakes, errors first, and counts the others', async () => {
  const files = [
    ...manyFiles(150, `{ prompt: p, triggers: [${JSON.stringify(triggerOf({}))}] }`),
    automationFile('z', '{'),
  ];
  const planned = await planFactory(makeFactory(), definitionsIn(files));
  expect(planned.ok).toBe(false);
  expect(planned.diagnostics).toHaveLength(diagnosticsReportedMax);
  expect(planned.diagnostics[0]).toMatchObject({ file: 'automations/z.yaml', severity: 'error' });
  expect(planned.diagnostics.at(-1)).toMatchObject({
    code: 'report/shortened',
    severity: 'warning',
    // Besides each unknown webhook, 149 automations are duplicates of the first.
    message: '201 more diagnostics are not shown',
  });
});

test('reports the first 50 mistakes of a file, and counts the others', () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join('\n');
  const { diagnostics } = definitionsIn([automationFile('a', keys)]);
  expect(diagnostics).toHaveLength(51);
  // The keys prompt and triggers are missing too.
  expect(diagnostics.find(({ code }) => code === 'report/shortened')?.message).toBe(
    '952 more diagnostics are not shown',
  );
});

test('the management API refuses a plan of too many files', async () => {
  const reader = await (await startManagedDaemon()).client();
  const files = manyFiles(definitionFilesMax + 1, '').map(({ file }) => ({ path: file, content: '' }));
  const planned = await reader.call('plan', { body: { files } });
  expect(planned.status).toBe(422);
  expect(planned.json.diagnostics).toMatchObject([{ code: 'factory/too-large' }]);
});
