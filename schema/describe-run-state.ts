import type { RunWait } from './delivery.ts';

const waitTexts: Readonly<Record<RunWait, string>> = {
  order: 'waits for an earlier run',
  limit: 'waits for other runs to end',
  deliveries: 'waits for more deliveries',
};

interface DescribedRun {
  readonly waitsFor?: RunWait | undefined;
  readonly stopped?: boolean | undefined;
  readonly dismissed?: boolean | undefined;
  readonly holds?: boolean | undefined;
}

/** Says more about the state of a run; undefined if there is no more to say. */
export function describeRunState({ waitsFor, stopped, dismissed, holds }: DescribedRun): string | undefined {
  if (waitsFor) return waitTexts[waitsFor];
  if (dismissed) return 'dismissed';
  const more = [...(stopped ? ['stopped'] : []), ...(holds ? ['holds those behind it'] : [])];
  return more.length === 0 ? undefined : more.join(', ');
}
