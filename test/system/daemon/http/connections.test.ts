import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ConnectionTurns } from '../../../../daemon/http/connections.ts';

function openPaused(turns: ConnectionTurns, count: number): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = new Socket().pause();
    turns.open(socket);
    return socket;
  });
}

test('64 connections of an address begin at once, and the next ones wait for a turn', async () => {
  const turns = new ConnectionTurns(() => false);
  expect(openPaused(turns, 64).filter(socket => socket.isPaused())).toEqual([]);
  const [next] = openPaused(turns, 1);
  expect(next?.isPaused()).toBe(true);
  expect(turns.hasWaiting('')).toBe(true);
  await new Promise<void>(resolve => next?.once('resume', () => resolve()));
  expect(turns.hasWaiting('')).toBe(false);
});
