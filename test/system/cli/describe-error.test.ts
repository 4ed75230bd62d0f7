import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { findReason } from '../../../cli/describe-error.ts';
import { findFreePort } from '../../support/free-port.ts';

test('is the message of the innermost cause', () => {
  const cause = new Error('in the middle', { cause: new Error('connection refused') });
  expect(findReason(new TypeError('fetch failed', { cause }))).toBe('connection refused');
  expect(findReason('a text')).toBe('a text');
});

test('is the code if no address of a host answers', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map(address => ({ address, family: 4 }));
  const socket = connect({
    host: 'two.example',
    port: await findFreePort(),
    autoSelectFamily: true,
    lookup: (_host, _options, callback) => callback(null, addresses),
  });
  const [cause] = await once(socket, 'error');
  expect(cause).toBeInstanceOf(AggregateError);
  expect(findReason(new TypeError('fetch failed', { cause }))).toBe('ECONNREFUSED');
});
