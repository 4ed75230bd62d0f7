import type { Permission } from '../../schema/grant.ts';
import { readBeginning } from '../../schema/summaries/read-beginning.ts';
import { summarizeDelivery, type Title } from '../../schema/summaries/summarize-delivery.ts';
import { splitReason } from '../../signatures/explanation.ts';
import { findScheme } from '../../signatures/schemes.ts';
import type { DeliveryLogReader, DeliverySummary, LoggedDelivery } from '../../store/ports/delivery-log.ts';
import { maySeeReason } from '../views/delivery-views.ts';

/** A title, and the signature scheme that authenticated the delivery, by which its provider is known; null if none did. */
export interface SchemeTitle extends Title {
  readonly scheme: string | null;
}

export interface TitledSummary {
  readonly summary: DeliverySummary;
  readonly title: SchemeTitle;
}

/** @limit Bytes at the beginning of a payload from which a list makes its title (32 KiB): nearly all events of GitHub are shorter. */
const titledBytesMax = 32 * 1024;

/**
 * Reads the summaries of deliveries with their titles, by ID. A duplicate has the title of its original, if that is still
 * kept. IDs that are no longer kept are absent.
 */
export async function readTitles(
  deliveries: Pick<DeliveryLogReader, 'summarizeDeliveries'>,
  ids: readonly string[],
  permission: Permission,
): Promise<ReadonlyMap<string, TitledSummary>> {
  const found = await summarize(deliveries, ids);
  const byId = new Map(found.map(summary => [summary.id, summary]));
  const missing = found.flatMap(({ duplicateOf: id }) => (id === undefined || byId.has(id) ? [] : [id]));
  const originals = new Map(
    (await summarize(deliveries, missing)).map(summary => [summary.id, summary] as const),
  );
  return new Map(
    found.map(summary => {
      const { id, duplicateOf = '', authenticatedBy } = summary;
      const titled = byId.get(duplicateOf) ?? originals.get(duplicateOf) ?? summary;
      const payload = readBeginning(titled.beginning, titled.form, titledBytesMax);
      const title = { ...titleDelivery(titled, payload, permission), scheme: toScheme(authenticatedBy) };
      return [id, { summary, title }] as const;
    }),
  );
}

async function summarize(
  deliveries: Pick<DeliveryLogReader, 'summarizeDeliveries'>,
  ids: readonly string[],
): Promise<DeliverySummary[]> {
  return ids.length === 0 ? [] : deliveries.summarizeDeliveries([...new Set(ids)], titledBytesMax);
}

/** Titles a delivery by its payload, with the reason of a rejection only for those who may see it. */
function titleDelivery(
  {
    outcome,
    authenticatedBy,
    headers,
    reason,
  }: Pick<LoggedDelivery, 'outcome' | 'authenticatedBy' | 'headers' | 'reason'>,
  payload: unknown,
  permission: Permission,
): Title {
  const isShown = reason !== undefined && maySeeReason(outcome, permission);
  const cause = isShown ? splitReason(reason).cause : undefined;
  return summarizeDelivery({ outcome, authenticatedBy, headers, reason: cause, payload });
}

function toScheme(authenticatedBy: string | undefined): string | null {
  return findScheme(authenticatedBy)?.id ?? null;
}
