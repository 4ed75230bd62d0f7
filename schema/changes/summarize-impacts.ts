import type { Impact } from './impact.ts';

/** A change, as far as it matters to senders and runs. */
interface WeighedChange {
  readonly action: string;
  readonly kind: string;
  readonly renamedTo?: string;
  readonly impact?: Impact;
}

/**
 * Says in one line what senders and runs lose by all changes, as in `2 URLs stop answering, 1 credential changes; 12
 * deliveries in 7 days would be lost`; empty if they lose nothing. Only deliveries to a URL that stops answering are
 * lost for certain: a sender can get a new credential in time.
 */
export function summarizeImpacts(changes: readonly WeighedChange[]): string {
  const stopped = changes.filter(change => stops(change));
  const moved = changes.filter(change => moves(change));
  const credentials = changes.filter(change =>
    hasEffect(change, 'credential-changed', 'authentication-changed'),
  );
  const automations = changes.filter(({ kind }) => kind === 'automation');
  const destroyed = automations.filter(({ action }) => action === 'delete');
  const altered = automations.filter(
    ({ action, impact }) => action === 'update' && impact?.kind === 'automation' && impact.changed > 0,
  );
  const parts = [
    count(stopped.length, 'URL stops answering', 'URLs stop answering'),
    count(moved.length, 'URL changes', 'URLs change'),
    count(credentials.length, 'credential changes', 'credentials change'),
    count(destroyed.length, 'automation is destroyed', 'automations are destroyed'),
    count(altered.length, 'automation starts other runs', 'automations start other runs'),
  ].flat();
  return [parts.join(', '), ...countLost([...stopped, ...moved])].join('; ');
}

function stops(change: WeighedChange): boolean {
  if (change.kind !== 'webhook' || change.renamedTo !== undefined) return false;
  return change.action === 'delete' || hasEffect(change, 'disabled');
}

function moves(change: WeighedChange): boolean {
  return change.renamedTo !== undefined || (!stops(change) && hasEffect(change, 'url-changed'));
}

type Effect = Extract<Impact, { kind: 'webhook' }>['effects'][number];

function hasEffect({ impact }: WeighedChange, ...effects: readonly Effect[]): boolean {
  return impact?.kind === 'webhook' && impact.effects.some(effect => effects.includes(effect));
}

function countLost(changes: readonly WeighedChange[]): string[] {
  const traffic = changes.flatMap(({ impact }) => (impact?.kind === 'webhook' ? [impact.traffic] : []));
  const lost = traffic.reduce((sum, { accepted }) => sum + accepted, 0);
  const days = traffic[0]?.days;
  return count(lost, `delivery in ${days} days would be lost`, `deliveries in ${days} days would be lost`);
}

function count(number: number, one: string, several: string): string[] {
  return number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
}
