import { expect, test } from 'vitest';
import { findTargets } from '../../../../dashboard/state/jump-targets.ts';
import { locateId } from '../../../../dashboard/state/page-location.ts';

const uid = 'wh_0123456789abcdefghijklmn';
const delivery = 'dlv_01m856whecx7r30kredhc56hrf';
const stock = {
  webhooks: [{ name: 'github', uid }],
  automations: [{ name: 'triage-issues', triggers: [{ webhook: 'github' }, { webhook: null }] }],
  ids: [delivery, 'run_01m856whecx7r30kredhc56hrg'],
};

const find = (text: string) => findTargets(text, 'default', stock, []).map(({ label }) => label);

test('finds names, parts of IDs, and offers a search for all other text', () => {
  expect(find('ISSUES')).toEqual(['triage-issues', 'Deliveries that contain “ISSUES”']);
  expect(find('')).toEqual(['triage-issues', 'github']);
  for (const part of ['…hc56hrf', 'dlv_…hc56hrf', 'hc56hrf'])
    expect(find(part)).toEqual([delivery, `Deliveries that contain “${part}”`]);
  expect(find('dlv_01m856whecx')).toEqual([delivery, 'Deliveries that contain “dlv_01m856whecx”']);
  expect(find('abcdef')).toEqual([uid, 'Deliveries that contain “abcdef”']);
  expect(find('hrf')).toEqual(['Deliveries that contain “hrf”']);
});

test('an ID leads to a page only if it is complete', () => {
  expect(locateId(delivery, 'default')).toEqual({ page: 'delivery', factory: 'default', id: delivery });
  expect(locateId(uid, 'default')).toMatchObject({ page: 'webhook' });
  expect(locateId('alr_01m856whecx7r30kredhc56hrf', 'default')).toMatchObject({
    ...{ page: 'settings', id: 'alerts' },
  });
  for (const none of [delivery.slice(0, -1), `${delivery}x`, 'wh_', 'xyz_01m856whecx7r30kredhc56hrf', ''])
    expect(locateId(none, 'default')).toBeUndefined();
});
