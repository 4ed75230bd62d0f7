import { parseRecorded, type RecordedAutomation } from '../../schema/automations-snapshot.ts';
import type { DeliveryLogReader, Run } from '../../store/ports/delivery-log.ts';

/** @limit Parsed snapshots of automations kept in memory: those that the latest runs came from. */
const snapshotsParsedMax = 4;

/** The automation of a run as it was when the run was recorded. */
export type RunAutomation = RecordedAutomation;

/** Reads the automation of a run; undefined if the log does not have it. */
export type ReadRunAutomation = (
  run: Pick<Run, 'snapshot' | 'automation'>,
) => Promise<RunAutomation | undefined>;

/** Reads automations from the log's snapshots. All runs of a delivery share a snapshot, which is parsed once. */
export function readRunAutomationsFrom(
  deliveryLog: Pick<DeliveryLogReader, 'readSnapshot'>,
): ReadRunAutomation {
  const parsed = new Map<string, Promise<RunAutomations>>();
  const readAutomations = (digest: string): Promise<RunAutomations> => {
    const known = parsed.get(digest);
    if (known) return known;
    const automations = deliveryLog.readSnapshot(digest).then(parseAutomations);
    parsed.set(digest, automations);
    automations.catch(() => parsed.delete(digest));
    for (const oldest of parsed.keys()) {
      if (parsed.size <= snapshotsParsedMax) break;
      parsed.delete(oldest);
    }
    return automations;
  };
  return async ({ snapshot, automation }) =>
    snapshot === undefined ? undefined : (await readAutomations(snapshot)).get(automation);
}

type RunAutomations = ReadonlyMap<string, RunAutomation>;

function parseAutomations(json: string | undefined): RunAutomations {
  return json === undefined ? new Map() : parseRecorded(json);
}
