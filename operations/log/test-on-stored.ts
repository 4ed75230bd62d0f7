import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import type { Trigger } from '../../schema/definitions/automation-definition.ts';
import { renderPathSegment } from '../../schema/field-path.ts';
import type { Scalar } from '../../schema/filters/clause.ts';
import { excerpt } from '../../schema/filters/excerpt.ts';
import { findNearMiss, type Repair, repairClause } from '../../schema/filters/near-miss.ts';
import {
  describeOperand,
  type ExaminedClause,
  examineClauses,
  examineHeaders,
} from '../../schema/filters/payload-filter-explain.ts';
import { compileClause } from '../../schema/filters/payload-filter-match.ts';
import { isShowableName, isShowableValue } from '../../schema/text/credentials.ts';
import { requireNamedWebhook } from '../applied/require-applied.ts';
import type { OpenFactory } from '../factory.ts';
import {
  createWebhookObservers,
  type DeliveryHistory,
  openHistory,
  type PastDelivery,
} from '../impact/history.ts';
import { compileStarts } from '../impact/judge-automations.ts';
import type { TestedOnStored } from '../views/delivery-views.ts';
import { findTested, type TestedAutomation, testedBytesMax, warnOfFilters } from './deliveries.ts';
import { readTitles } from './titles.ts';

/** @limit Most values of a field, for which a clause fails, that a test on stored deliveries names: enough to recognise the others. */
const foundMax = 3;

type TestedDelivery = TestedOnStored['deliveries'][number];
type TestedClause = TestedOnStored['clauses'][number];

/**
 * Tests which of the newest accepted deliveries start an automation or a draft, enabled or not: of the webhooks that its triggers
 * select, or of one webhook by its UID or name. Reads each once, and at most `testedBytesMax` bytes of them. Fails with
 * `automation-unknown` or `webhook-unknown`.
 */
export async function testOnStored(
  factory: OpenFactory,
  tested: TestedAutomation,
  { webhook, last }: { readonly webhook?: string | undefined; readonly last: number },
): Promise<TestedOnStored> {
  const state = await factory.readState();
  const { triggers } = findTested(state, tested);
  const only = webhook === undefined ? undefined : requireNamedWebhook(state, webhook);
  const starts = only && compileStarts(state.automations, only.uid);
  const history = openHistory(factory);
  const { observe, observations } = createWebhookObservers(state.webhooks.length);
  const tallies = triggers.map(tallyTrigger);
  const judged: { readonly delivery: PastDelivery; readonly verdict: TestedDelivery['verdict'] }[] = [];
  const misses = new Map<string, Miss>();
  let startedNothing = 0;
  for (const delivery of await listNewest(history, only ? [only] : selectedBy(triggers, state), last)) {
    const read = await history.readPayload(delivery.id);
    if (!read) continue;
    const { payload } = read;
    observe(delivery, payload);
    if (starts?.(payload, delivery.headers).length === 0) startedNothing++;
    const own = tallies.filter(({ uids }) => uids.includes(delivery.uid));
    const results = own.map(tally => tally.add(delivery, payload));
    const miss = results.find(result => typeof result === 'object');
    if (miss && !results.includes('match')) misses.set(delivery.id, miss);
    judged.push({ delivery, verdict: results.includes('match') ? 'match' : miss ? 'near' : 'no' });
  }
  const matching = judged.flatMap(({ delivery, verdict }) => (verdict === 'match' ? [delivery.id] : []));
  const oldest = judged.at(-1)?.delivery;
  const ids = judged.map(({ delivery: { id } }) => id);
  const titles = await readTitles(factory.store.deliveries, ids, 'read');
  return {
    deliveries: judged.map(({ delivery: { id, atMs, webhook }, verdict }) => {
      const miss = misses.get(id);
      const near = miss && { near: showMiss(miss) };
      const { title = '', text = null } = titles.get(id)?.title ?? {};
      return { id, at: new Date(atMs).toISOString(), webhook, title, text, verdict, ...near };
    }),
    matches: matching.length,
    clauses: tallies.flatMap(({ clauses }, trigger) =>
      clauses
        .map(clause => ({ trigger, ...clause.finish(matching) }))
        .filter(({ operator, holds, judged }) => operator !== 'object' || holds < judged),
    ),
    since: oldest ? new Date(oldest.atMs).toISOString() : null,
    warnings: warnOfFilters(triggers, observations),
    ...(only && { startedNothing }),
  };
}

function selectedBy(triggers: readonly Trigger[], { webhooks }: AppliedState): readonly AppliedWebhook[] {
  const uids = new Set(triggers.flatMap(({ filter }) => filter.webhook_ids));
  return webhooks.filter(({ uid }) => uids.has(uid));
}

/** Lists the newest deliveries of the webhooks together, newest first, until they have too many bytes. */
async function listNewest(
  history: DeliveryHistory,
  webhooks: readonly AppliedWebhook[],
  last: number,
): Promise<readonly PastDelivery[]> {
  const newest: PastDelivery[] = [];
  for (const webhook of webhooks) newest.push(...(await history.listLastAccepted(webhook, last)));
  newest.sort((a, b) => b.atMs - a.atMs);
  let bytes = 0;
  return newest.slice(0, last).filter(({ size }) => {
    bytes += size;
    return bytes <= testedBytesMax;
  });
}

/** The only clause that a delivery fails, by a value that was probably meant. */
interface Miss {
  readonly tally: ClauseTally;
  readonly examined: ExaminedClause;
  readonly note: string;
  readonly repair?: Repair;
}

/** Counts the verdicts of a trigger on the deliveries of its webhooks. */
function tallyTrigger({ filter }: Trigger) {
  const { webhook_ids: uids, payload: payloadFilter, headers: headerFilter = {} } = filter;
  const examine = (payload: unknown, headers: PastDelivery['headers'] = {}) => [
    ...examineHeaders(headerFilter, headers),
    ...examineClauses(payloadFilter, payload),
  ];
  const headerCount = Object.keys(headerFilter).length;
  const clauses = examine(undefined).map((examined, index) =>
    tallyClause(examined, index < headerCount ? 'headers' : 'payload'),
  );
  const add = ({ id, headers }: PastDelivery, payload: unknown): Miss | 'match' | 'no' => {
    const examined = examine(payload, headers);
    for (const [index, one] of examined.entries()) clauses[index]?.add(one);
    const failing = examined.findIndex(({ holds }) => !holds);
    if (failing < 0) return 'match';
    const [one, tally] = [examined[failing], clauses[failing]];
    if (!one || !tally || examined.some(({ holds }, index) => !holds && index !== failing)) return 'no';
    const near = findNearMiss(one);
    tally.addOnlyFailing(id, one.found, near?.repair);
    return near ? { tally, examined: one, ...near } : 'no';
  };
  return { uids, clauses, add };
}

type ClauseTally = ReturnType<typeof tallyClause>;

/** Counts the outcomes of a clause. */
function tallyClause({ clause, keys, readNumber }: ExaminedClause, kind: TestedClause['kind']) {
  let [holds, judged] = [0, 0];
  const failed = new Map<string, number>();
  /** The values for which it holds. */
  const used = new Set<unknown>();
  const isUsed = (from: Scalar) =>
    'values' in clause && [...used].some(compileClause({ ...clause, values: [from] }, readNumber));
  const onlyFailing: { readonly id: string; readonly found: unknown }[] = [];
  const repairs = new Map<string, { readonly repair: Repair; count: number }>();
  const mayShow = keys.every(isShowableName);
  const show = (found: unknown) => (mayShow ? showFound(found) : undefined);
  const suggest = (repair: Repair) => suggestClause(repairClause(clause, repair, isUsed(repair.from)));
  const path = kind === 'headers' ? (keys[0] ?? '') : `$${keys.map(renderPathSegment).join('')}`;
  return {
    show,
    suggest,
    add({ found, holds: isHeld }: ExaminedClause): void {
      judged++;
      if (isHeld) holds++;
      for (const value of isHeld && 'values' in clause ? [found].flat() : []) used.add(value);
      const text = isHeld ? undefined : found === undefined ? excerpt(found) : show(found);
      if (text !== undefined) failed.set(text, (failed.get(text) ?? 0) + 1);
    },
    addOnlyFailing(id: string, found: unknown, repair: Repair | undefined): void {
      onlyFailing.push({ id, found });
      if (!repair || show(repair.to) === undefined) return;
      const key = excerpt([repair.from, repair.to]);
      const known = repairs.get(key) ?? { repair, count: 0 };
      known.count++;
      repairs.set(key, known);
    },
    finish(matching: readonly string[]): Omit<TestedClause, 'trigger'> {
      const [best] = [...repairs.values()].sort((a, b) => b.count - a.count);
      const repaired = best && repairClause(clause, best.repair, isUsed(best.repair.from));
      const holdsThen = repaired && compileClause(repaired, readNumber);
      const added = holdsThen ? onlyFailing.filter(({ found }) => holdsThen(found)) : [];
      const matches = new Set([...matching, ...added.map(({ id }) => id)]).size;
      const found = [...failed].sort(([, a], [, b]) => b - a).slice(0, foundMax);
      return {
        ...{ kind, path, operator: clause.operator, allowed: describeOperand(clause), holds, judged },
        found: found.map(([text]) => text),
        ...(best && { suggestion: { ...suggest(best.repair), matches } }),
      };
    },
  };
}

function suggestClause(clause: ExaminedClause['clause']) {
  const values = 'values' in clause ? [...(clause.values as readonly Scalar[])] : [];
  return { allowed: describeOperand(clause), values };
}

function showMiss({ tally, examined, note, repair }: Miss): NonNullable<TestedDelivery['near']> {
  const { path, clause, found } = examined;
  const shown = tally.show(found);
  return {
    ...{ path, operator: clause.operator, allowed: describeOperand(clause), found: shown ?? null },
    ...(shown !== undefined && { note, ...(repair && { suggestion: tally.suggest(repair) }) }),
  };
}

/** Shows a value that was found; undefined if it may be a credential. Of an object, only that it is one. */
function showFound(found: unknown): string | undefined {
  if (Array.isArray(found)) {
    const shown = found.filter(value => typeof value !== 'object' || value === null);
    if (shown.length < found.length) return 'a list of objects';
    return shown.every(isShowableValue) ? excerpt(found) : undefined;
  }
  if (typeof found === 'object' && found !== null) return 'an object';
  return isShowableValue(found as Scalar) ? excerpt(found) : undefined;
}
