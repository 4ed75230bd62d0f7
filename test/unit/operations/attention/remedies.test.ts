import { expect, test } from 'vitest';
import { remedyDisabled } from '../../../../operations/attention/remedies.ts';

test.for([
  [
    'files',
    'webhook',
    false,
    'in the dashboard, or set `enabled: true` in its file and run `hookmill apply`',
  ],
  [
    'repository',
    'webhook',
    false,
    'or set `enabled: true` in its file on the branch that the factory follows',
  ],
  ['repository', 'webhook', true, 'or wait: the next commit on the branch undoes that'],
  ['files', 'webhook', true, 'or wait: the next apply undoes that'],
  ['dashboard', 'webhook', false, 'Enable it in the dashboard.'],
  ['files', 'automation', false, 'Set `enabled: true` in its file and run `hookmill apply`'],
  ['repository', 'automation', false, 'Set `enabled: true` in its file on the branch'],
  ['dashboard', 'automation', false, 'Enable it in the dashboard.'],
] as const)(
  'with %s, a disabled %s (by hand: %s) is enabled where that has an effect',
  ([management, kind, isByHand, remedy]) => {
    expect(remedyDisabled(management, { kind, isByHand })).toContain(remedy);
  },
);
