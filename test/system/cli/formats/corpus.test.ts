import { beforeAll, expect, test } from 'vitest';
import { formatNames } from '../../../../cli/formats/load-format.ts';
import { version } from '../../../../cli/version.ts';
import { type Diagnostic, type DiagnosticCode, diagnosticCodes } from '../../../../schema/diagnostics.ts';
import { runCommand } from '../../../support/command-runner.ts';
import { makeCorpus } from '../../../support/corpus.ts';

const { directory, mistakes } = makeCorpus();
const extensions = {
  text: 'txt',
  json: 'json',
  github: 'github',
  sarif: 'sarif',
  gitlab: 'gitlab',
  junit: 'xml',
};

// Codes that need more than a few definition files: a state, team secrets, deliveries, or thousands of files.
const uncovered: readonly DiagnosticCode[] = [
  'automation/path-not-sent',
  'automation/runner-not-offered',
  'automation/webhook-unknown',
  'definition/folder-name',
  'factory/duplicate',
  'factory/dashboard-managed',
  'factory/no-definitions',
  'factory/too-large',
  'filter/any-element',
  'filter/field-not-sent',
  'filter/type-not-sent',
  'filter/value-not-sent',
  'home/tracked',
  'report/shortened',
  'secret/not-header-safe',
  'secret/not-shared',
  'secret/shared-by-schemes',
  'secret/unresolved',
  'secret/short',
  'secret/not-url-safe',
  'secret/unusable',
  'webhook/renamed',
  'webhook/identity-repeated',
  'webhook/sender-differs',
  'definition/git-ignored',
  'factory/behind',
  'factory/conflict',
  'factory/rewound',
];

const env = { NO_COLOR: '1' };
const words = (format: string) => [
  ...['validate', '--format', format, '--secrets-from', 'secret-names.txt'],
  ...mistakes,
];

let diagnostics: readonly Diagnostic[] = [];
beforeAll(async () => {
  const printed = await runCommand({ args: words('json'), cwd: directory, env, stdin: '' });
  diagnostics = JSON.parse(printed?.stdout ?? '').diagnostics;
});

// After a change that is meant: `npx vitest run test/system/cli/formats -u`, and a look at the difference.
test.for(formatNames)('prints the corpus of mistakes as %s', async format => {
  const printed = await runCommand({ args: words(format), cwd: directory, env, stdin: '' });
  const golden = printed?.stdout.replace(`"version": "${version}"`, '"version": "VERSION"');
  await expect(golden).toMatchFileSnapshot(`corpus.golden.${extensions[format]}`);
  expect(printed?.exitCode).toBe(1);
});

test('has at least 60 mistakes, and says something about each', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(60);
  const blamed = new Set(diagnostics.map(({ file }) => file.split('/')[0]));
  expect(mistakes.filter(mistake => !blamed.has(mistake))).toEqual([]);
});

test('has each code that files by themselves can cause', () => {
  const codes = new Set<DiagnosticCode>([...diagnostics.map(({ code }) => code), ...uncovered]);
  expect([...codes].sort()).toEqual(Object.keys(diagnosticCodes).sort());
});

test('says how to put each mistake right, and where it is in a text that is one', () => {
  expect(diagnostics.filter(({ hint }) => !hint)).toEqual([]);
  const ofWholeFiles = [
    'definition/case-collision',
    'definition/file-name',
    'definition/not-regular-file',
    'webhook/too-many',
    'yaml/too-large',
    'yaml/unreadable',
  ];
  const placeless = diagnostics.filter(({ range, code }) => !range && !ofWholeFiles.includes(code));
  // A fixture that is a folder, and one without an automation.
  expect(placeless.map(({ file }) => file.split('/')[0])).toEqual([
    'fixture-a-folder',
    'fixture-without-automation',
  ]);
});

test('leaves the wording of no library in a message', () => {
  const messages = diagnostics.map(({ message }) => message);
  expect(
    messages.filter(message => /invalid input|expected .* received|too (big|small)|undefined/i.test(message)),
  ).toEqual([]);
});
