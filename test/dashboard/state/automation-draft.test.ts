import { expect, test } from 'vitest';
import { buildAutomationBody, toAutomationDraft } from '../../../dashboard/state/automation-draft.ts';

test('keeps the keys that the form does not show', () => {
  const others = { timeLimit: '10m', attempts: 2, backOff: { first: '30s' }, order: '$.id' };
  const stored = { name: 'triage', enabled: true, prompt: 'Triage.', triggers: [], ...others };
  const view = { ...stored, file: null, serial: 3, yaml: '' };
  const body = buildAutomationBody(toAutomationDraft(view));
  expect(body).toEqual({ enabled: true, prompt: 'Triage.', triggers: [], ...others });
});
