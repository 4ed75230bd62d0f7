import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import { type EventHeaders, traceHeader } from '../../schema/headers.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import { openTracer, type TracerOptions } from './tracer.ts';

export interface TracesOptions extends Omit<TracerOptions, 'idGenerator'> {
  /** Whether the trace of a request's sender is continued. */
  readonly isTrusted: (request: IncomingMessage) => boolean;
}

/** Traces of requests and runs, after the semantic conventions of OpenTelemetry for HTTP and messaging. */
export class Traces {
  readonly #tracer: Tracer;
  readonly #isTrusted: TracesOptions['isTrusted'];
  readonly #random = new RandomIdGenerator();
  /** The IDs of the span that is being started, unless they are random. */
  #given: Pick<SpanContext, 'traceId' | 'spanId'> | undefined;
  /** Spans since the start that never reached the collector. */
  readonly dropped: () => number;
  /** Sends the spans that wait. Takes no longer than the time limit of an export. */
  readonly close: () => Promise<void>;

  constructor({ isTrusted, ...options }: TracesOptions) {
    const idGenerator = {
      generateTraceId: () => this.#given?.traceId ?? this.#random.generateTraceId(),
      generateSpanId: () => this.#given?.spanId ?? this.#random.generateSpanId(),
    };
    const { tracer, dropped, close } = openTracer({ ...options, idGenerator });
    this.#tracer = tracer;
    this.#isTrusted = isTrusted;
    this.dropped = dropped;
    this.close = close;
  }

  /** Begins the span of a request to the ingress. It continues the trace of a trusted sender. */
  beginRequest(request: IncomingMessage): RequestTrace {
    const { method = '', headers } = request;
    const sent = headers.traceparent;
    const parent = sent !== undefined && this.#isTrusted(request) ? parse(sent) : undefined;
    const attributes = {
      'http.request.method': method,
      // Neither the path nor its UID: who knows them can find the webhook, and one may contain a token.
      'http.route': route,
      'url.scheme': 'http',
    };
    const options = { kind: SpanKind.SERVER, attributes };
    return new RequestTrace(
      this.#tracer,
      this.#tracer.startSpan(`${method} ${route}`, options, within(parent)),
    );
  }

  /**
   * Begins the span of an attempt at a run, below the span in which the run waited for its first attempt. That one belongs
   * to the trace of the delivery's request, or to a new one with a link to it if the run is a replay.
   */
  beginAttempt(run: Run, headers: EventHeaders): AttemptTrace {
    const { automation } = run;
    const queue = this.#startQueueSpan(run, parse(headers[traceHeader]));
    // An attempt that was not the first, or did not count, has an error.
    if (run.attempts === 1 && run.error === undefined) queue.end(run.startedAtMs);
    const attributes = {
      ...describeRun(run),
      'messaging.operation.name': 'run',
      'messaging.operation.type': 'process',
      'hookmill.run.attempt': run.attempts,
    };
    const options = { kind: SpanKind.CONSUMER, attributes };
    return new AttemptTrace(
      this.#tracer.startSpan(`run ${automation}`, options, within(queue.spanContext())),
    );
  }

  /** Its IDs are made from the run's, so that each daemon that attempts the run knows them without storing them. */
  #startQueueSpan(run: Run, request: SpanContext | undefined): Span {
    const parent = run.replay ? undefined : request;
    const digest = hash('sha256', run.id);
    const attributes = {
      ...describeRun(run),
      'messaging.operation.name': 'queue',
      'messaging.operation.type': 'send',
    };
    this.#given = { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
    try {
      return this.#tracer.startSpan(
        `queue ${run.automation}`,
        {
          kind: SpanKind.PRODUCER,
          startTime: run.createdAtMs,
          attributes,
          links: request && run.replay ? [{ context: request }] : [],
        },
        within(parent),
      );
    } finally {
      this.#given = undefined;
    }
  }
}

/** The span of a request, and the span of the commit it waits for. */
export class RequestTrace {
  readonly #tracer: Tracer;
  readonly #span: Span;
  #commit: Span | undefined;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  /** Begins to wait for the commit of a delivery. Returns its event headers with the one by which runs find the trace. */
  beginCommit(headers: EventHeaders): EventHeaders {
    this.#commit = this.#tracer.startSpan('commit', {}, within(this.#span.spanContext()));
    return { ...headers, [traceHeader]: format(this.#span) };
  }

  /** Ends when the answer has been written. */
  end(status: number, outcome?: TracedOutcome): void {
    this.#commit?.end();
    this.#span.setAttributes({ 'http.response.status_code': status, ...describeOutcome(outcome) });
    if (status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

export class AttemptTrace {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  /** The W3C `traceparent` by which other programs make their spans part of this attempt. */
  get traceparent(): string {
    return format(this.#span);
  }

  end({ kind, reason }: { readonly kind: string; readonly reason?: string }): void {
    this.#span.setAttribute('hookmill.run.result', kind);
    if (kind !== 'succeeded' && kind !== 'waiting' && kind !== 'cancelled')
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    this.#span.end();
  }
}

const route = '/webhooks/w/{uid}';

/** The part of the ingress's answer that a span has. */
interface TracedOutcome {
  readonly result: string;
  /** Code of the problem, if the request was refused. */
  readonly problem?: string;
  readonly webhook?: { readonly factory: string; readonly name: string };
  readonly deliveryId?: string;
}

function describeOutcome(outcome: TracedOutcome | undefined): Attributes {
  if (!outcome) return {};
  const { result, problem, webhook, deliveryId } = outcome;
  return {
    'hookmill.result': problem ?? result,
    'hookmill.factory': webhook?.factory,
    'hookmill.webhook': webhook?.name,
    'hookmill.delivery.id': deliveryId,
  };
}

function describeRun({ id, deliveryId, factory, webhook, automation, replay }: Run): Attributes {
  return {
    'messaging.system': 'hookmill',
    'messaging.destination.name': automation,
    'messaging.message.id': id,
    'hookmill.factory': factory,
    'hookmill.webhook': webhook,
    'hookmill.automation': automation,
    'hookmill.delivery.id': deliveryId,
    'hookmill.run.id': id,
    'hookmill.run.replay': replay,
  };
}

function within(parent: SpanContext | undefined): Context {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function parse(traceparent: string | string[] | undefined): SpanContext | undefined {
  const parsed = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
  return parsed ? { ...parsed, isRemote: true } : undefined;
}

/** W3C Trace Context section 3.2. */
function format(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
