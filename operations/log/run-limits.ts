import { parseJsonText } from '../../json/parse-json-text.ts';
import { parseRecorded, type RecordedAutomation } from '../../schema/automations-snapshot.ts';
import { parseDurationMs } from '../../schema/time-units.ts';
import type { OfferedRunner } from '../../store/ports/daemon-records.ts';
import type { Run } from '../../store/ports/delivery-log.ts';
import type { Factory } from '../factory.ts';
import { compileLaneValue, compileRunFlow } from '../impact/run-flow.ts';
import { type RunView, runView } from '../views/delivery-views.ts';

/** @limit Snapshots of automations that one list of runs reads, in characters of JSON: parsing more would take over 100 ms. */
const snapshotCharsMax = 4 * 1024 * 1024;
/** @limit Characters of the value of a lane that are shown: a sender may have written megabytes. */
const laneValueCharsMax = 200;

/** Converts runs for a list, with the most attempts that each may have. */
export async function viewRuns({ store }: Pick<Factory, 'store'>, runs: readonly Run[]): Promise<RunView[]> {
  if (runs.length === 0) return [];
  const offered = await store.offeredRunners.read();
  const digests = [...new Set(runs.flatMap(({ snapshot }) => snapshot ?? []))];
  const recorded = new Map<string, ReadonlyMap<string, RecordedAutomation>>();
  let chars = 0;
  for (const digest of digests) {
    if (chars > snapshotCharsMax) break;
    const json = await store.deliveries.readSnapshot(digest);
    if (json === undefined) continue;
    chars += json.length;
    recorded.set(digest, parseRecorded(json));
  }
  return runs.map(run => {
    const automation = recorded.get(run.snapshot ?? '')?.get(run.automation);
    const attemptsMax = automation && findAttemptsMax(run, automation, offered);
    return { ...runView(run), ...(attemptsMax !== undefined && { attemptsMax }) };
  });
}

/** What the definition of a run and the operator's settings say of it. */
export type RunLimits = Pick<RunView, 'attemptsMax' | 'timeLimitSeconds' | 'lane'>;

/** Finds the limits of a run, by its automation as it was when the run was recorded. */
export async function readRunLimits(
  { name, store }: Pick<Factory, 'name' | 'store'>,
  run: Run,
  automation: RecordedAutomation,
): Promise<RunLimits> {
  const offered = await store.offeredRunners.read();
  const attemptsMax = findAttemptsMax(run, automation, offered);
  const timeLimitSeconds = findTimeLimit(run, automation, offered);
  const payload = run.lane === undefined ? undefined : await store.deliveries.readPayload(run.deliveryId);
  const lane =
    payload && findLane(name, run, automation, parseJsonText(Buffer.from(payload).toString('utf8')));
  return {
    ...(attemptsMax !== undefined && { attemptsMax }),
    ...(timeLimitSeconds !== undefined && { timeLimitSeconds }),
    ...(lane && { lane }),
  };
}

/** As `boundRetries` of the daemon; undefined if the runner is not offered, or no daemon has said its limits. */
function findAttemptsMax(
  { runner }: Run,
  { attempts = Infinity }: RecordedAutomation,
  offered: readonly OfferedRunner[],
): number | undefined {
  const limit = offered.find(({ name }) => name === runner)?.attempts;
  return limit === undefined ? undefined : Math.min(limit, attempts);
}

/** Undefined for a second command too, which has a limit of its own. */
function findTimeLimit(
  { runner, afterwards }: Run,
  { timeLimit }: RecordedAutomation,
  offered: readonly OfferedRunner[],
): number | undefined {
  const limit = offered.find(({ name }) => name === runner)?.timeLimitSeconds;
  if (limit === undefined || afterwards) return undefined;
  const wantedMs = (timeLimit === undefined ? undefined : parseDurationMs(timeLimit)) ?? Infinity;
  return Math.min(limit, wantedMs / 1_000);
}

/** Undefined if the lane is of another payload: a run with `debounce` keeps the lane of its first delivery. */
function findLane(
  factory: string,
  run: Run,
  automation: RecordedAutomation,
  payload: unknown,
): RunView['lane'] {
  const { order, limit } = compileRunFlow(factory, automation)?.(payload) ?? {};
  if ((order ?? limit)?.lane !== run.lane) return undefined;
  const field = order ? automation.order : automation.concurrencyKey;
  const value = compileLaneValue(field)(payload);
  return {
    kind: order ? 'order' : 'limit',
    ...(field !== undefined && { field }),
    value: typeof value === 'string' ? value.slice(0, laneValueCharsMax) : value,
  };
}
