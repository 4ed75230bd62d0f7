import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type CompletionSources,
  completeYaml,
  type SchemaPart,
} from '../../../../dashboard/state/yaml-completions.ts';
import { findYamlCursor } from '../../../../dashboard/state/yaml-cursor.ts';
import { runControlFields } from '../../../../schema/definitions/automation-definition.ts';

const schemaFile = new URL('../../../../schema/json/automation.schema.json', import.meta.url);
const field = (
  path: string,
  keys: readonly (string | null)[],
  type: string,
  examples: readonly string[],
) => ({
  ...{ path, keys, deliveries: 12, types: [{ type }], examples },
});
const sources: CompletionSources = {
  schema: JSON.parse(readFileSync(schemaFile, 'utf8')) as SchemaPart,
  webhooks: [{ name: 'deploys' }, { name: 'alerts' }],
  headers: ['X-GitHub-Event'],
  runners: [{ name: 'agents', repositories: ['shop'] }],
  fields: [
    field('$.action', ['action'], 'string', ['opened', 'closed']),
    field('$.issue', ['issue'], 'object', []),
    field('$.issue.id', ['issue', 'id'], 'string', ['7']),
    field('$.issue["odd name"]', ['issue', 'odd name'], 'string', []),
    field('$.labels', ['labels'], 'array', []),
    field('$.labels[*]', ['labels', null], 'string', ['bug']),
  ],
};
const trigger = 'triggers:\n  - provider: webhook\n    filter:\n      ';

function complete(text: string): readonly string[] {
  return completeYaml(findYamlCursor(text, text.length), sources).map(({ insert }) => insert);
}

test('completes the keys of an automation, all that control its runs included', () => {
  const keys = complete('').map(insert => insert.split(':')[0]);
  expect(keys).toEqual(expect.arrayContaining([...Object.keys(runControlFields), 'prompt', 'triggers']));
  expect(complete('debounce:\n  ')).toEqual(['for: ', 'key: ', 'atMost: ']);
  expect(complete('tri')).toContain('triggers:\n  - ');
});

test.for<[typed: string, expected: readonly string[]]>([
  ['enabled: ', ['true', 'false']],
  ['onFailure: ', ['continue', 'hold']],
  ['notify: [', ['succeeded', 'failed']],
  ['runner: ', ['agents']],
  ['repository: ', ['shop']],
  ['order: ', ['$.action', '$.issue.id', `'$.issue["odd name"]'`]],
  [`${trigger}webhook: `, ['deploys', 'alerts']],
  [`${trigger}headers:\n        `, ['X-GitHub-Event: ']],
  [`${trigger}payload:\n        `, ['action: ', 'issue:\n          ', 'labels: ']],
  [`${trigger}payload:\n        issue:\n          `, ['id: ', 'odd name: ']],
  [`${trigger}payload:\n        action: `, ['[opened]', '[closed]']],
  [`${trigger}payload:\n        action: [`, ['opened', 'closed']],
  [`${trigger}payload:\n        action:\n          - `, ['opened', 'closed']],
  [`${trigger}payload:\n        action: { not_in: [`, ['opened', 'closed']],
  [`${trigger}payload:\n        labels: [`, ['bug']],
  [`${trigger}payload:\n        action: { exists: `, ['true', 'false']],
  [`${trigger}payload:\n        action: { $compare: { `, ['at_least: ', 'above: ', 'at_most: ', 'below: ']],
  [`${trigger}payload: { issue: { id: [`, ['"7"']],
])('at %j, completes %j', ([typed, expected]) => {
  expect(complete(typed)).toEqual(expected);
});

test('completes the operators of a field', () => {
  expect(complete(`${trigger}payload:\n        action: { `)).toEqual([
    'in: ',
    'not_in: ',
    'exists: ',
    '$like: ',
    '$not_like: ',
    '$compare: ',
    '$none: ',
  ]);
});
