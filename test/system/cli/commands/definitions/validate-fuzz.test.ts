import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import type { Findings } from '../../../../../cli/formats/findings.ts';
import { formatNames, loadFormat } from '../../../../../cli/formats/load-format.ts';
import { parseFilterFixture } from '../../../../../schema/definitions/filter-fixture.ts';
import { parseWorkspace } from '../../../../../schema/definitions/parse-file.ts';
import { definitionBytesMax } from '../../../../../schema/definitions/yaml-source.ts';
import { type Diagnostic, diagnosticCharsMax, type Range } from '../../../../../schema/diagnostics.ts';
import { parseDefinitions } from '../../../../../sources/parse-definitions.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

const filesPerProperty = inject('isLong') ? 5_000 : 250;
const directories = inject('isLong') ? 30 : 1;
// A short run looks at the same files each time; a long one looks for what nobody has seen yet.
const seed = inject('isLong') ? {} : { seed: 1 };

const corpus = join(import.meta.dirname, '../../../../fixtures/corpus');
const files = readdirSync(corpus, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && /\.(?:yaml|json)$/.test(entry.name))
  .map(entry => readFileSync(join(entry.parentPath, entry.name)))
  .filter(bytes => bytes.length > 0);
const formats = await Promise.all(formatNames.map(loadFormat));

/** An edit of a file, like a typo, a bad merge or a disk error. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.oneof(fc.constant(0), fc.nat({ max: 12 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom(
      ...files,
      ...[
        '\0',
        '\t',
        '\r\n',
        '\ufeff',
        '- ',
        ': ',
        '? ',
        '"',
        "'",
        '[',
        '{',
        '*a',
        '&a ',
        '!t ',
        '%YAML 1.1\n',
        '---\n',
        '|\n',
        '>-\n',
        '<<: ',
        '.nan',
        '1e999',
        '__proto__: ',
        '\u2028',
        '#',
      ].map(text => Buffer.from(text)),
    ),
  ),
});

const mutation = fc
  .tuple(fc.constantFrom(...files), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([file, edits]) =>
    edits.reduce<Uint8Array>((bytes, { at, drop, insert }) => {
      const place = Math.floor(at * bytes.length);
      return Buffer.concat([bytes.subarray(0, place), insert, bytes.subarray(place + drop)]);
    }, file),
  );

const large = fc
  .tuple(
    fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.constantFrom(...files)),
    fc.nat({ max: 2 }),
  )
  .map(([unit, over]) => Buffer.alloc(definitionBytesMax + over - 1, unit));

const bytes = fc.oneof(
  { weight: 30, arbitrary: mutation },
  { weight: 8, arbitrary: fc.uint8Array({ maxLength: 400 }) },
  { weight: 1, arbitrary: large },
);

/** All that `validate` makes of one file, whatever it is taken for. */
function diagnosticsOf(content: Uint8Array): { findings: Findings; unexplained: string[] } {
  const definitions = parseDefinitions({
    files: [
      { kind: 'webhook', name: 'a', file: 'webhooks/a.yaml', bytes: content },
      { kind: 'automation', name: 'a', file: 'automations/a.yaml', bytes: content },
    ],
    diagnostics: [],
  });
  const text = Buffer.from(content).toString();
  const fixture = parseFilterFixture('a.json', text);
  const workspace = parseWorkspace('hookmill.yaml', content);
  const diagnostics: Diagnostic[] = [
    ...definitions.diagnostics,
    ...workspace.diagnostics,
    ...(fixture.ok ? [] : fixture.diagnostics),
  ];
  const texts = new Map([...definitions.texts, ['hookmill.yaml', workspace.text], ['a.json', text]]);
  const isExplained = (file: string) =>
    diagnostics.some(found => found.file === file && found.severity === 'error');
  const invalid = [
    ...(definitions.webhooks.length === 0 ? ['webhooks/a.yaml'] : []),
    ...(definitions.automations.length === 0 ? ['automations/a.yaml'] : []),
    ...(workspace.definition ? [] : ['hookmill.yaml']),
  ];
  const findings = { diagnostics, texts, errorCount: diagnostics.length, warningCount: 0, version: '1.2.3' };
  return { findings, unexplained: invalid.filter(file => !isExplained(file)) };
}

describe('whatever a file holds,', () => {
  test('it is a definition or has an error that says how to put it right, in its text', () => {
    fc.assert(
      fc.property(bytes, content => {
        const { findings, unexplained } = diagnosticsOf(content);
        expect(unexplained).toEqual([]);
        const lengths = new Map(
          [...findings.texts].map(([file, text]) => [file, text.split('\n').map(line => line.length)]),
        );
        const wrong = findings.diagnostics.filter(({ message, hint = '', range, file }) => {
          const isTold =
            hint !== '' && message.length <= diagnosticCharsMax && hint.length <= diagnosticCharsMax;
          return !isTold || (range && !isPlace(range, lengths.get(file) ?? []));
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: filesPerProperty, ...seed },
    );
  });

  test('each format prints it, and nothing that a terminal acts on', () => {
    fc.assert(
      fc.property(bytes, content => {
        const { findings } = diagnosticsOf(content);
        for (const render of formats) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
          expect(render(findings)).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
        }
      }),
      { numRuns: filesPerProperty / 5, ...seed },
    );
  });
});

/** Whether a range begins in a text of such lines, and ends no earlier. */
function isPlace({ start, end }: Range, lineLengths: readonly number[]): boolean {
  const length = lineLengths[start.line - 1];
  const isOrdered = end.line > start.line || (end.line === start.line && end.column >= start.column);
  return length !== undefined && start.column >= 1 && start.column <= length + 1 && isOrdered;
}

test('the command ends with 0 or 1 on directories of such files', async () => {
  for (const round of fc.sample(fc.array(bytes, { minLength: 40, maxLength: 40 }), {
    numRuns: directories,
    ...seed,
  })) {
    const workspace = makeWorkspace();
    round.forEach((content, index) => {
      workspace.write(`webhooks/w${index}.yaml`, content);
      workspace.write(`automations/a${index}.yaml`, content);
      workspace.write(`automations/a${index}.fixtures/f.json`, content);
    });
    workspace.write('hookmill.yaml', round[0] ?? '');
    const { stderr, exitCode } = await workspace.hookmill('validate');
    expect(stderr).toMatch(/^\d+ definitions: \d+ errors?, \d+ warnings?\.\n$/);
    expect(exitCode).toBe(1);
  }
});

const places = ['webhooks/a.yaml', 'automations/a.yaml', 'hookmill.yaml'];
const hostile = [
  ['900 brackets', '['.repeat(900)],
  ['64 KiB of brackets', '['.repeat(definitionBytesMax)],
  ['64 KiB of question marks', '? '.repeat(definitionBytesMax / 2)],
  ['64 KiB of anchors', '&a '.repeat(definitionBytesMax / 3)],
  ['64 KiB of aliases', `a: &a 1\nb: [${'*a,'.repeat(20_000)}]`],
  ['64 KiB of keys', Array.from({ length: 8_000 }, (_, n) => `k${n}: 1`).join('\n')],
  ['64 KiB of one key', 'a: 1\n'.repeat(definitionBytesMax / 5)],
  ['64 KiB of spaces', ' '.repeat(definitionBytesMax)],
  ['64 KiB of tabs', '\t'.repeat(definitionBytesMax)],
  ['64 KiB of a quote', '"'.repeat(definitionBytesMax)],
  ['64 KiB of NUL', '\0'.repeat(definitionBytesMax)],
  [
    'a billion laughs',
    `a: &a [x,x]\n${[...'bcdefghij'].map((name, n) => `${name}: &${name} [*${[...'abcdefghi'][n]}, *${[...'abcdefghi'][n]}]`).join('\n')}`,
  ],
] as const;

// All of them are parsed as YAML first, which takes the time: a short run has each in one place.
test.for(
  hostile.map(
    ([name, content], index) =>
      [name, content, inject('isLong') ? places : [places[index % 3] ?? '']] as const,
  ),
)('the command survives %s', async ([_, content, files]) => {
  const workspace = makeWorkspace();
  for (const file of files) workspace.write(file, content);
  const { stderr, exitCode } = await workspace.hookmill('validate', '--format', 'json');
  expect(basename(stderr.trim())).not.toContain('unexpected');
  expect(exitCode).toBe(1);
});
