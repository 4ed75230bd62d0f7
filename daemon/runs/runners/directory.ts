import type { Runner } from './runner.ts';

/** Leaves the run's directory for others to act on; by the time a runner is called, it is on disk. */
export const directoryRunner: Runner = async () => ({ kind: 'succeeded' });
