import type { RunSettings } from '../daemon/settings.ts';

/**
 * How long a run waits after its `attempts`-th attempt failed, in ms: doubled from attempt to attempt up to the
 * most, of which chance (in [0, 1)) takes off up to half, so that runs that failed together do not come back together.
 */
export function backOffMs(attempts: number, settings: RunSettings['backOff'], chance: number): number {
  const { firstSeconds, maxSeconds } = settings;
  const fullMs = Math.min(firstSeconds * 2 ** (attempts - 1), maxSeconds) * 1000;
  return Math.round(fullMs * (1 - chance / 2));
}
