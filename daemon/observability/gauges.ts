import { Gauge, type Registry } from 'prom-client';

/** A gauge whose value is part of a state that several gauges share. */
export interface StateGauge<State> {
  readonly help: string;
  /** Returns null or undefined while there is nothing to report. */
  readonly getValue: (state: State) => number | null | undefined;
}

/** Adds gauges by name whose state is read once for each scrape. While it cannot be read, they have no value. */
export function addStateGauges<State>(
  registry: Registry,
  gauges: Readonly<Record<string, StateGauge<State>>>,
  readState: () => Promise<State>,
): void {
  const read = shareRead(() => readState().catch(() => undefined));
  for (const [name, { help, getValue }] of Object.entries(gauges)) {
    new Gauge({
      ...{ name, help, registers: [registry] },
      async collect() {
        const state = await read();
        const value = state && getValue(state);
        if (value == null) this.remove();
        else this.set(value);
      },
    });
  }
}

/** Lets the calls that come while a read is in progress share it: the gauges of one scrape are collected together. */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
