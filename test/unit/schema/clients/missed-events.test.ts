import { expect, test } from 'vitest';
import { type MissedEvent, mergeMissed } from '../../../../schema/clients/missed-events.ts';

function event(
  eventId: string,
  attemptIds: readonly string[],
  given: Partial<MissedEvent> = {},
): MissedEvent {
  return {
    ...{ eventId, event: 'push', action: null, firstAt: '2026-11-20T10:00:00.000Z' },
    ...{ at: '2026-11-20T10:00:00.000Z', attempts: attemptIds.length, attemptIds: [...attemptIds] },
    ...{ attemptId: attemptIds[0] ?? '', status: 502, matches: ['triage'], canRedeliver: true },
    ...{ isInFlight: false, asked: null, ...given },
  };
}

const early = { firstAt: '2026-11-20T08:00:00.000Z', at: '2026-11-20T08:00:00.000Z' };
const late = { firstAt: '2026-11-20T12:00:00.000Z', at: '2026-11-20T12:00:00.000Z' };

test('merges the attempts of an event in several parts, of which the newest one counts', () => {
  const asked = { at: '2026-11-20T11:59:00.000Z', isDue: false };
  const parts = [
    { events: [event('a', ['4', '3'], { ...late, status: 401, asked })] },
    { events: [event('b', ['2']), event('a', ['1'], { ...early, asked: { ...asked, isDue: true } })] },
  ];
  expect(mergeMissed(parts)).toEqual([
    event('a', ['4', '3', '1'], { ...late, firstAt: early.firstAt, attempts: 3, status: 401, asked }),
    event('b', ['2']),
  ]);
});

test('counts an attempt once that a newer one has moved to the next page', () => {
  const parts = [{ events: [event('a', ['2', '1'])] }, { events: [event('a', ['1'])] }];
  expect(mergeMissed(parts)).toMatchObject([{ attempts: 2, attemptId: '2' }]);
});

test('orders events of one moment by their places in the log, of which the last is the earliest', () => {
  const parts = [
    { events: [event('b', ['9']), event('c', ['3']), event('e', ['5'], late)] },
    { events: [event('b', ['2']), event('a', ['1'])] },
  ];
  expect(mergeMissed(parts).map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c', 'e']);
});

test('leaves out an event whose newest attempt is in flight, whatever older parts say', () => {
  const parts = [
    { events: [event('a', ['2'], { ...late, isInFlight: true })] },
    { events: [event('a', ['1'], early), event('b', ['0'])] },
  ];
  expect(mergeMissed(parts).map(({ eventId }) => eventId)).toEqual(['b']);
});
