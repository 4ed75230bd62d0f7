import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeSockets } from '../../cli/take-sockets.ts';
import { settingsShape } from '../../daemon/settings.ts';
import { parseHookmill } from '../support/hookmill-command-line.ts';

/** The values of a unit file, by their keys. */
function readUnit(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(import.meta.dirname, '../../deploy/systemd', name), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
}

test('hookmill takes the socket of the unit for its ingress', () => {
  const names = readUnit('hookmill.socket').FileDescriptorName;
  const environment = { LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: names };
  expect(takeSockets(environment, 7)).toEqual({ ingress: 3 });
  expect(names).toBe('ingress');
});

test('the service starts hookmill itself, and gives it the time that it may take to stop', () => {
  const { ExecStart = '', TimeoutStopSec } = readUnit('hookmill.service');
  const [program, ...words] = ExecStart.split(' ');
  expect(program).toMatch(/^\/.*\/hookmill$/);
  expect(parseHookmill(words)).toBeUndefined();
  // No stop delay that can be set leaves less than the 10 s in which the daemon ends.
  const stopDelaySeconds = Number(TimeoutStopSec) - 10;
  expect(settingsShape.safeParse({ stopDelaySeconds }).success).toBe(false);
});
