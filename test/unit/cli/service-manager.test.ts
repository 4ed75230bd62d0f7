import { expect, test } from 'vitest';
import { takeSockets } from '../../../cli/service-manager.ts';

function take(count: string, names?: string) {
  return takeSockets({ LISTEN_FDS: count, LISTEN_PID: '7', LISTEN_FDNAMES: names }, 7);
}

test.each([
  ['1', undefined, { ingress: 3 }],
  ['1', 'hookmill.socket', { ingress: 3 }],
  ['1', 'management', { management: 3 }],
  ['2', 'ingress:management', { ingress: 3, management: 4 }],
  ['2', 'management:ingress', { ingress: 4, management: 3 }],
  ['1', 'notify', { notify: 3 }],
  ['2', 'hookmill.socket:notify', { ingress: 3, notify: 4 }],
  ['3', 'management:ingress:notify', { ingress: 4, management: 3, notify: 5 }],
])('of %s passed sockets with the names %s, takes %j', (count, names, sockets) => {
  expect(take(count, names)).toEqual(sockets);
});

test.each([
  ['2', undefined],
  ['2', 'ingress'],
  ['2', 'ingress:ingress'],
  ['2', 'notify:notify'],
  ['2', 'ingress:hookmill.socket'],
  ['3', 'ingress:management:other'],
  ['many', 'ingress'],
])('refuses %s passed sockets with the names %s', (count, names) => {
  expect(() => take(count, names)).toThrow(/set FileDescriptorName to ingress/);
});

test('removes the variables, so that no other process takes the sockets for its own', () => {
  for (const owner of ['7', '8']) {
    const environment = { LISTEN_FDS: '1', LISTEN_PID: owner, LISTEN_FDNAMES: 'ingress', HOME: '/root' };
    takeSockets(environment, 7);
    expect(environment).toEqual({ HOME: '/root' });
  }
});
