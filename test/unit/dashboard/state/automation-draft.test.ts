import { expect, test } from 'vitest';
import {
  createAutomationText,
  listFilteredFields,
  readAutomationDraft,
  selectWebhooks,
} from '../../../../dashboard/state/automation-draft.ts';
import { automationShape, runControlFields } from '../../../../schema/definitions/automation-definition.ts';
import { renderAutomationYaml } from '../../../../schema/definitions/definition-yaml.ts';

test('an automation that nobody edits stays the same, with all keys that control its runs', () => {
  const control = {
    ...{ runner: 'agents', repository: 'shop', requires: ['answer.md', 'a b.md'], timeLimit: '10m' },
    ...{ attempts: 2, backOff: { first: '30s', max: '5m' }, concurrency: 1, concurrencyKey: '$.a' },
    ...{ order: '$["odd, name"]', onFailure: 'continue' as const, runsPerHour: 20 },
    ...{ onlyLatest: true, cancelRunning: true },
    notify: ['failed', 'succeeded'] as ('failed' | 'succeeded')[],
    debounce: { for: '30s', key: '$.id', atMost: '5m' },
  };
  expect(Object.keys(control).sort()).toEqual(Object.keys(runControlFields).sort());
  const filter = { webhook: 'deploys', payload: { a: [1] } };
  const triggers = [{ provider: 'webhook' as const, event: 'received' as const, filter }];
  const automation = automationShape.parse({ prompt: 'Triage.\n', triggers, ...control });
  const { body, diagnostics } = readAutomationDraft('triage', renderAutomationYaml(automation, []));
  expect(diagnostics).toEqual([]);
  expect(automationShape.parse(body)).toEqual(automation);
});

test('the text of a new automation is valid', () => {
  const { body, diagnostics, triggers } = readAutomationDraft('new', createAutomationText('deploys'));
  expect(diagnostics).toEqual([]);
  expect(body?.enabled).toBe(true);
  expect(triggers).toEqual([{ webhook: 'deploys', payload: undefined }]);
});

test('says what is wrong and where, and reads what can be read', () => {
  const text = `prompt: Look.
attempts: 3
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys
      payload:
        action: opened
`;
  const { body, diagnostics, runs, triggers } = readAutomationDraft('triage', text);
  expect(body).toBeUndefined();
  expect(diagnostics).toMatchObject([
    { message: expect.stringContaining('must be a list'), range: { start: { line: 9, column: 17 } } },
  ]);
  expect(runs?.['/attempts']).toBe('3');
  expect(triggers).toEqual([{ webhook: 'deploys', payload: { action: 'opened' } }]);
});

test('a text that is no YAML has diagnostics only', () => {
  expect(readAutomationDraft('triage', 'a: [')).toMatchObject({
    ...{ body: undefined, runs: undefined, triggers: [], diagnostics: [{ code: 'yaml/syntax' }] },
  });
});

test('finds the webhooks by name and UID, and names what does not exist', () => {
  const webhooks = [
    { name: 'deploys', uid: 'wh_1' },
    { name: 'alerts', uid: 'wh_2' },
    { name: 'other', uid: 'wh_3' },
  ];
  const triggers = ['deploys', 'wh_2', 'gone', undefined].map(webhook => ({ webhook }));
  const { selected, unknown } = selectWebhooks(triggers, webhooks);
  expect(selected.map(({ name }) => name)).toEqual(['deploys', 'alerts']);
  expect(unknown).toEqual(['gone']);
});

test('lists the fields on which an automation filters', () => {
  const text = `${createAutomationText('deploys')}      payload: { a: [1], issue: { level: { not_in: [x] } } }\n`;
  const { body } = readAutomationDraft('new', text);
  expect([...listFilteredFields(body)]).toEqual(['["a"]', '["issue","level"]']);
});
