import type { SendersOptions, SenderWatch } from './sender-watch.ts';

/** @limit Time between two looks whether a webhook with a sender is due, in ms. It costs next to nothing without one. */
const tickMs = 1_000;

export interface SendersTask {
  /** Resolves when nothing more is begun. The operations thread ends requests to providers. */
  stop(): Promise<void>;
}

/**
 * Watches the hooks of webhooks at their providers, and asks for what was missed where a definition says so. Loads nothing
 * for that before a webhook has a sender.
 */
export function startSenders(options: SendersOptions): SendersTask {
  let watch: SenderWatch | undefined;
  let loading: Promise<void> | undefined;
  let isStopped = false;
  const load = async () => {
    const { SenderWatch } = await import('./sender-watch.ts');
    if (!isStopped) watch = new SenderWatch(options);
  };
  const tick = () => {
    if (watch) return watch.lookAtDue();
    if (options.listSenders().length > 0) loading ??= load();
  };
  const timer = setInterval(tick, tickMs).unref();
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await loading;
      await watch?.stop();
    },
  };
}
