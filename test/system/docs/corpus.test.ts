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

  test.each([
    ['signatures', 'a byte of a body', '2432232314', '2432232315'],
    ['signatures', 'a byte of a signature', 'kSApTMInYZnPj9HO', 'kSApTMInYZnPj9HP'],
    ['signatures', 'a verdict', '"valid": false', '"valid": true'],
    ['filters', 'a verdict', '"matches":false', '"matches":true'],
    ['filters', 'a payload', String.raw`{\"a\": \"z\"}`, String.raw`{\"a\": \"y\"}`],
    ['filters', 'the path of a clause', '$.items[1].sku', '$.items[0].sku'],
    ['identities', 'an identity', '"identity":"event-1"', '"identity":"event-2"'],
    ['identities', 'a body', '"body":"{\\"n\\":3}"', '"body":"{\\"n\\":4}"'],
    ['identities', 'a duplicate', '"duplicateOf":0', '"duplicateOf":1'],
  ])('notices in the %s that %s was changed', async (kind, _, from, to) => {
    const copy = temporaryDirectory();
    cpSync(directory, copy, { recursive: true });
    const text = read(`${kind}.json`);
    expect(text).toContain(from);
    writeFileSync(join(copy, `${kind}.json`), text.replace(from, to));
    const { differences, exitCode } = await check(kind, copy);
    expect(exitCode).toBe(1);
    expect(differences.length).toBeGreaterThan(0);
  });
});
