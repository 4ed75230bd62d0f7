import { expect, test } from 'vitest';
import { buildAutomationBody, toAutomationDraft } from '../../../dashboard/state/automation-draft.ts';
import { runControlFields } from '../../../schema/definitions/automation-definition.ts';

test('an automation that nobody edits keeps all keys that control its runs', () => {
  const others = {
    ...{ runner: 'agents', repository: 'shop', requires: ['answer.md', 'a b.md'], timeLimit: '10m' },
    ...{ attempts: 2, backOff: { first: '30s', max: '5m' }, concurrency: 1, concurrencyKey: '$.a' },
    ...{ order: '$["odd, name"]', onFailure: 'continue' as const, runsPerHour: 20 },
    notify: ['failed', 'succeeded'] as ('failed' | 'succeeded')[],
    debounce: { for: '30s', key: '$.id', atMost: '5m' },
  };
  expect(Object.keys(others).sort()).toEqual(Object.keys(runControlFields).sort());
  const stored = { name: 'triage', enabled: true, prompt: 'Triage.', triggers: [], ...others };
  const body = buildAutomationBody(toAutomationDraft(stored));
  expect(body).toEqual({ enabled: true, prompt: 'Triage.', triggers: [], ...others });
});

test('selects a webhook by its name, and one that is deleted by its UID', () => {
  const trigger = (uid: string, webhook: string | null) => ({ uid, webhook, payload: { a: [1] } });
  const triggers = [trigger('wh_1', 'deploys'), trigger('wh_2', null)];
  const stored = { name: 'triage', enabled: true, prompt: 'Triage.', triggers };
  const body = buildAutomationBody(toAutomationDraft(stored));
  expect(body?.triggers.map(({ filter }) => filter)).toEqual([
    { webhook: 'deploys', payload: { a: [1] } },
    { webhook_ids: ['wh_2'], payload: { a: [1] } },
  ]);
});
