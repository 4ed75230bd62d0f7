import { expect, test } from 'vitest';
import { buildAutomationBody, toAutomationDraft } from '../../../dashboard/state/automation-draft.ts';

test('keeps the keys that the form does not show', () => {
  const others = { timeLimit: '10m', attempts: 2, backOff: { first: '30s' }, order: '$.id' };
  const stored = { name: 'triage', enabled: true, prompt: 'Triage.', triggers: [], ...others };
  const view = { ...stored, file: null, serial: 3, yaml: '' };
  const body = buildAutomationBody(toAutomationDraft(view));
  expect(body).toEqual({ enabled: true, prompt: 'Triage.', triggers: [], ...others });
});

test('selects a webhook by its name, and one that is deleted by its UID', () => {
  const trigger = (uid: string, webhook: string | null) => ({ uid, webhook, payload: { a: [1] } });
  const triggers = [trigger('wh_1', 'deploys'), trigger('wh_2', null)];
  const stored = { name: 'triage', enabled: true, prompt: 'Triage.', triggers };
  const body = buildAutomationBody(toAutomationDraft({ ...stored, file: null, serial: 3, yaml: '' }));
  expect(body?.triggers.map(({ filter }) => filter)).toEqual([
    { webhook: 'deploys', payload: { a: [1] } },
    { webhook_ids: ['wh_2'], payload: { a: [1] } },
  ]);
});
