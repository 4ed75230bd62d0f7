import type { Missed } from '../../schema/sender.ts';

/** Says what a provider tried to deliver that did not arrive. */
export function describeMissed({ events, attempts, first, last }: Missed): string {
  const times = first === last ? `at ${first}` : `between ${first} and ${last}`;
  const which = events === 1 ? 'event' : 'events';
  return `the provider tried ${attempts} ${attempts === 1 ? 'time' : 'times'} to deliver ${events} ${which} ${times}, which did not arrive`;
}
