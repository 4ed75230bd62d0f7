/**
 * Settles as the work does, or is undefined as soon as the signal has aborted; the work goes on. Nothing of it stays on the
 * signal, which may live as long as the daemon: neither a listener nor, as `Promise.race` leaves on a promise that never
 * settles, a reaction.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', stop));
}
