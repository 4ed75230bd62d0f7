import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { editorSchemas } from '../../../docs/editor-schemas.ts';
import { schemeAliases, schemeIds } from '../../../signatures/schemes.ts';

const root = join(import.meta.dirname, '../../..');
const stored = (kind: string) =>
  JSON.parse(readFileSync(join(root, `schema/json/${kind}.schema.json`), 'utf8'));

test.for(editorSchemas)('$path is made of the shape as it is now', ({ path, render }) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(render());
});

test('webhook lists the ids of every scheme, with their providers', () => {
  const [ids] = stored('webhook').properties.signatureScheme.anyOf;
  expect(ids.enum).toEqual([...schemeIds, ...Object.keys(schemeAliases)]);
  expect(ids.enumDescriptions).toHaveLength(ids.enum.length);
});

describe.each(['webhook', 'automation', 'workspace', 'daemon'])('%s', kind => {
  const schema = stored(kind);
  // Keywords that editors have and the standard has not are `enumDescriptions` and `defaultSnippets`.
  const ajv = addFormats.default(
    new Ajv.default({ strictTypes: false, keywords: ['enumDescriptions', 'defaultSnippets'] }),
  );

  test('is a JSON Schema of draft 7', () => {
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(() => ajv.compile(schema)).not.toThrow();
  });

  test('describes each key', () => {
    const undescribed = Object.entries<{ description?: string }>(schema.properties).filter(
      ([, { description }]) => !description,
    );
    expect(undescribed).toEqual([]);
  });

  test('takes its own defaults and examples', () => {
    const validate = ajv.compile(schema);
    const required = kind === 'webhook' ? { secretName: 'A' } : {};
    const ofOtherModes = ['signatureScheme', 'issuer', 'audience', 'claims'];
    for (const [key, { default: value, examples = [] }] of Object.entries<{
      default?: unknown;
      examples?: unknown[];
    }>(schema.properties)) {
      for (const example of value === undefined ? examples : [value, ...examples]) {
        validate({ ...required, ...(!ofOtherModes.includes(key) && { [key]: example }) });
        const about = validate.errors?.filter(({ instancePath }) => instancePath.startsWith(`/${key}`)) ?? [];
        expect(about).toEqual([]);
      }
    }
    for (const example of schema.examples ?? []) expect(validate(example)).toBe(true);
  });
});

test.each(['webhook', 'automation'])('%s takes the definitions of examples/', kind => {
  const ajv = addFormats.default(new Ajv.default({ strict: false }));
  const folder = join(root, 'examples', `${kind}s`);
  for (const file of readdirSync(folder).filter(name => name.endsWith('.yaml'))) {
    const validate = ajv.compile(stored(kind));
    validate(parse(readFileSync(join(folder, file), 'utf8')));
    expect(validate.errors).toBeNull();
  }
});
