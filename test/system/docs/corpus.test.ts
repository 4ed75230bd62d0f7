import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../daemon/runs/run-samples.ts';

const directory = join(import.meta.dirname, '../../../docs/corpus');
const read = (file: string) => readFileSync(join(directory, file), 'utf8');
const kinds = ['schemes', 'signatures', 'filters', 'identities'] as const;
const isPythonMissing = (await execa('python3', ['--version'], { reject: false })).exitCode !== 0;

test.each(kinds)('%s.json has the shape that the schema describes, and says so', kind => {
  const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(read('corpus.schema.json')));
  const file = JSON.parse(read(`${kind}.json`));
  expect(isValid(file), JSON.stringify(isValid.errors)).toBe(true);
  expect(file).toMatchObject({ kind, version: 1 });
  for (const version of [2, undefined]) expect(isValid({ ...file, version })).toBe(false);
});

/** How many cases each file has. */
function countCases() {
  const { vectors } = JSON.parse(read('signatures.json'));
  const { cases } = JSON.parse(read('identities.json'));
  return {
    schemes: Object.keys(JSON.parse(read('schemes.json')).schemes).length,
    signatures: vectors.length,
    filters: JSON.parse(read('filters.json')).cases.length,
    identities: cases.flatMap((one: { deliveries: object[] }) => one.deliveries).length,
  };
}

test('the page says how many cases there are', () => {
  const page = read('README.md');
  for (const [kind, count] of Object.entries(countCases()))
    expect(page).toMatch(new RegExp(`^\\| \\[${kind}\\.json\\].* \\| ${count}\\b[^|]*\\|$`, 'm'));
});

interface Compared {
  readonly compared: number;
  readonly 'left out'?: Readonly<Record<string, number>>;
  readonly differences: readonly string[];
}

async function check(kind: string, at = directory): Promise<Compared & { exitCode: number | undefined }> {
  const { stdout, exitCode } = await execa('python3', [join(at, `check_${kind}.py`)], { reject: false });
  return { ...(JSON.parse(stdout) as Compared), exitCode };
}

// Skipped if python3 is not installed.
describe.skipIf(isPythonMissing)('a program in Python that shares no code with hookmill', () => {
  test('verifies every signature but Ed25519 and ECDSA, which its standard library lacks', async () => {
    const { compared, differences, exitCode, ...rest } = await check('signatures');
    expect({ differences, exitCode }).toEqual({ differences: [], exitCode: 0 });
    const leftOut = rest['left out'] ?? {};
    expect(Object.keys(leftOut).sort()).toEqual(['ecdsa-p256', 'ed25519']);
    const all = Object.values(leftOut).reduce((sum, count) => sum + count, compared);
    expect(all).toBe(countCases().signatures);
    expect(compared).toBeGreaterThan(countCases().schemes);
  });

  test.each(['filters', 'identities'] as const)('decides all %s alike', async kind => {
    expect(await check(kind)).toEqual({ compared: countCases()[kind], differences: [], exitCode: 0 });
  });

  const changes: readonly {
    readonly kind: string;
    readonly changed: readonly (readonly [from: string, to: string])[];
    readonly differences: number;
  }[] = [
    {
      kind: 'signatures',
      // A byte of a body, a byte of a signature, a verdict.
      changed: [
        ['2432232314', '2432232315'],
        ['kSApTMInYZnPj9HO', 'kSApTMInYZnPj9HP'],
        ['"valid": false', '"valid": true'],
      ],
      differences: 3,
    },
    {
      kind: 'filters',
      // A verdict, a payload, the path of a clause.
      changed: [
        ['"matches":true', '"matches":false'],
        [String.raw`{\"a\": \"z\"}`, String.raw`{\"a\": \"y\"}`],
        ['$.items[1].sku', '$.items[0].sku'],
      ],
      differences: 3,
    },
    {
      kind: 'identities',
      // An identity, a body (of which two deliveries are duplicates), a duplicate.
      changed: [
        ['"identity":"event-1"', '"identity":"event-2"'],
        ['"body":"{\\"n\\":3}"', '"body":"{\\"n\\":4}"'],
        ['"duplicateOf":0', '"duplicateOf":1'],
      ],
      differences: 4,
    },
  ];

  test.each(changes)('notices each change in the $kind', async ({ kind, changed, differences: count }) => {
    const copy = temporaryDirectory();
    cpSync(directory, copy, { recursive: true });
    let text = read(`${kind}.json`);
    for (const [from, to] of changed) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    writeFileSync(join(copy, `${kind}.json`), text);
    const { differences, exitCode } = await check(kind, copy);
    expect(exitCode).toBe(1);
    expect(differences).toHaveLength(count);
  });
});
