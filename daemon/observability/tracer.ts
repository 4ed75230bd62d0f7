import { TraceFlags, type Tracer } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

/** @limit Most spans that wait for the collector: with some 1 KB each, they take 2 MB while it is out of reach. Further ones are dropped and counted. */
const spansWaitingMax = 2_048;
/** @limit Time for one export of spans, in ms, repetitions included: a daemon that stops waits no longer for a collector. */
const exportMs = 2_000;
/** @limit Time between two log lines about dropped spans, in ms. */
const droppedLogMs = 60_000;

export interface TracerOptions {
  readonly settings: { readonly endpoint?: string | undefined; readonly sampleRatio: number };
  /** Differs each time a daemon starts. */
  readonly daemonId: string;
  readonly idGenerator: IdGenerator;
  readonly log: Logger;
  readonly monotonicMs: () => number;
}

interface OpenTracer {
  readonly tracer: Tracer;
  readonly dropped: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a tracer whose spans are posted to a collector, by the settings and the variables OTEL_EXPORTER_OTLP_…. */
export function openTracer(options: TracerOptions): OpenTracer {
  const { settings, daemonId, idGenerator } = options;
  const { endpoint: url, sampleRatio } = settings;
  const drops = new Drops(options);
  const exporter = new OTLPTraceExporter({ ...(url !== undefined && { url }), timeoutMillis: exportMs });
  const service = { 'service.name': 'hookmill', 'service.instance.id': daemonId };
  const resource = defaultResource()
    .merge(resourceFromAttributes(service))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({
    resource,
    idGenerator,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [createBoundedProcessor(exporter, drops)],
  });
  return {
    tracer: provider.getTracer('hookmill'),
    dropped: () => drops.total,
    close: async () => {
      // It ends with the first export that fails; the others end within the same time limit.
      await provider.shutdown().catch(() => exporter.shutdown());
      drops.report();
    },
  };
}

/**
 * Sends spans in batches. The library's processor bounds only the spans that no export has begun with, and does not tell
 * how many it dropped.
 */
function createBoundedProcessor(exporter: SpanExporter, drops: Drops): SpanProcessor {
  let waiting = 0;
  const counting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, result => {
        waiting -= spans.length;
        if (result.code !== ExportResultCode.SUCCESS) drops.add(spans.length, result.error);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({ exporter: counting, maxQueueSize: spansWaitingMax });
  return {
    onStart: () => undefined,
    onEnd: span => {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (waiting >= spansWaitingMax) return drops.add(1);
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

/** Counts dropped spans, and logs them now and then. */
class Drops {
  total = 0;
  #unreported = 0;
  #reportedMs = -Infinity;
  #error: Error | undefined;
  readonly #log: Logger;
  readonly #monotonicMs: () => number;

  constructor({ log, monotonicMs }: Pick<TracerOptions, 'log' | 'monotonicMs'>) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** An error is why the collector did not get them; without one, too many were waiting. */
  add(spans: number, error?: Error): void {
    this.total += spans;
    this.#unreported += spans;
    this.#error = error ?? this.#error;
    if (this.#monotonicMs() - this.#reportedMs >= droppedLogMs) this.report();
  }

  report(): void {
    if (this.#unreported === 0) return;
    // Only the message: the error has the collector's answer too.
    const fields = { spans: this.#unreported, reason: this.#error?.message };
    this.#log.warn(fields, 'dropped spans that the collector did not take');
    this.#unreported = 0;
    this.#reportedMs = this.#monotonicMs();
  }
}
