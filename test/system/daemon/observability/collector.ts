import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { startLoopbackServer } from '../../../support/loopback-server.ts';

/** A span as OTLP sends it in JSON. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  /** The spans in the order in which they ended. */
  spans(): CollectedSpan[];
  /** Everything that was posted, as text. */
  text(): string;
}

/** A server that takes spans by OTLP over HTTP, until the test ends. */
export async function startCollector(): Promise<Collector> {
  const received: Received[] = [];
  const url = await listen(async (request, response) => {
    received.push((await json(request)) as Received);
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  return {
    url,
    spans: () => received.flatMap(toSpans).sort(byEnd),
    text: () => JSON.stringify(received),
  };
}

/** Returns the URL of a server that takes requests as the handler says, until the test ends. */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  return `${await startLoopbackServer(handler)}/v1/traces`;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'resource'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

function toSpans({ resourceSpans }: Received): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(span => ({
        ...span,
        links: span.links ?? [],
        attributes: toRecord(span.attributes),
        resource: toRecord(resource.attributes),
      })),
    ),
  );
}

function toRecord(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function byEnd(one: CollectedSpan, other: CollectedSpan): number {
  return Number(BigInt(one.endTimeUnixNano) - BigInt(other.endTimeUnixNano));
}
