import { describeScheme, findScheme, isCredentialHeader } from '../signatures/schemes.ts';
import type { CustomScheme } from './definitions/custom-scheme.ts';
import type { Diagnostic } from './diagnostics.ts';
import { traceHeader } from './headers.ts';

/** The keys of a webhook that decide which headers are kept. */
interface KeepingWebhook {
  readonly signatureScheme?: string | CustomScheme | undefined;
  readonly tokenHeader?: string | undefined;
  readonly deliveryIdHeader?: string | undefined;
  readonly keepHeaders?: readonly string[] | undefined;
}

/** Lists the headers that are kept of a webhook's deliveries, each once, written as their senders write them. */
export function listKeptHeaders({
  signatureScheme,
  tokenHeader,
  deliveryIdHeader,
  keepHeaders = [],
}: KeepingWebhook): readonly string[] {
  const names = [
    ...['Content-Type', 'User-Agent'],
    ...listSchemeHeaders(signatureScheme),
    ...(deliveryIdHeader === undefined ? [] : [deliveryIdHeader]),
    ...keepHeaders,
  ];
  const own = (signatureScheme && describeScheme(signatureScheme)?.header) ?? tokenHeader;
  const byLower = new Map<string, string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const isKept = !byLower.has(lower) && !isNeverKept(name) && lower !== own?.toLowerCase();
    if (isKept) byLower.set(lower, name);
  }
  return [...byLower.values()];
}

/** The headers in which the senders of a scheme say the kind and the ID of an event. */
function listSchemeHeaders(reference: KeepingWebhook['signatureScheme']): readonly string[] {
  const { eventHeaders = [] } = findScheme(reference) ?? {};
  return [...eventHeaders, ...listSchemeIdHeaders(reference)];
}

/** The headers in which the senders of a scheme say the ID of an event. */
export function listSchemeIdHeaders(reference: KeepingWebhook['signatureScheme']): readonly string[] {
  const description = reference && describeScheme(reference);
  if (!description) return [];
  const sets =
    'alternatives' in description ? [description, ...(description.alternatives ?? [])] : [description];
  const ids = sets.flatMap(set => [('idHeader' in set && set.idHeader) || undefined, set.deliveryIdHeader]);
  return ids.filter(name => name !== undefined);
}

/** Says why a header is never kept, whatever a webhook lists; undefined if it can be. */
export function describeNeverKept(name: string): Pick<Diagnostic, 'message' | 'hint'> | undefined {
  if (!isNeverKept(name)) return undefined;
  const what = isTraceHeader(name) ? 'is set by hookmill itself' : 'carries a credential or a signature';
  return {
    message: `${name} ${what}, so it is never kept`,
    hint: 'filter on a header that describes the event',
  };
}

function isNeverKept(name: string): boolean {
  return isCredentialHeader(name) || isTraceHeader(name);
}

/** Whether a header names a trace: only hookmill may say to which trace a delivery belongs. */
function isTraceHeader(name: string): boolean {
  return name.toLowerCase() === traceHeader;
}
