import { z } from 'zod';
import type { DeliveryLogReader, Run } from '../../store/delivery-log.ts';

/** @limit Parsed snapshots of automations kept in memory: those that the latest runs came from. */
const snapshotsParsedMax = 4;

/** The prompt of a run's automation as it was when the run was recorded; undefined if the log does not have it. */
export type ReadPrompt = (run: Pick<Run, 'snapshot' | 'automation'>) => Promise<string | undefined>;

/** Reads prompts from the log's snapshots. All runs of a delivery share a snapshot, which is parsed once. */
export function readPromptsFrom(deliveryLog: Pick<DeliveryLogReader, 'readSnapshot'>): ReadPrompt {
  const parsed = new Map<string, Promise<Prompts>>();
  const readPrompts = (digest: string): Promise<Prompts> => {
    const known = parsed.get(digest);
    if (known) return known;
    const prompts = deliveryLog.readSnapshot(digest).then(parsePrompts);
    parsed.set(digest, prompts);
    prompts.catch(() => parsed.delete(digest));
    for (const oldest of parsed.keys()) {
      if (parsed.size <= snapshotsParsedMax) break;
      parsed.delete(oldest);
    }
    return prompts;
  };
  return async ({ snapshot, automation }) =>
    snapshot === undefined ? undefined : (await readPrompts(snapshot)).get(automation);
}

type Prompts = ReadonlyMap<string, string>;

const snapshotShape = z.object({
  automations: z.array(z.object({ name: z.string(), prompt: z.string() })),
});

function parsePrompts(json: string | undefined): Prompts {
  if (json === undefined) return new Map();
  const { automations } = snapshotShape.parse(JSON.parse(json));
  return new Map(automations.map(({ name, prompt }) => [name, prompt]));
}
