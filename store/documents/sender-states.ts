import { z } from 'zod';
import { findSenderState, senderStateShape } from '../../schema/sender.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import type { SenderStates } from '../ports/sender-states.ts';

/** @limit Webhooks of a factory whose providers' answers are kept, those that were asked last: deleted webhooks leave theirs. */
const statesKept = 100;

const sendersShape = z.strictObject({ formatVersion: z.literal(1), webhooks: z.array(senderStateShape) });

/** The states of a factory's senders, in one document. */
export function openSenderStates(documents: Documents): SenderStates {
  const changeState: SenderStates['learn'] = async (factory, uid, change) => {
    const { result } = await documents.change(sendersDocument(factory), async ({ webhooks, ...document }) => {
      const before = findSenderState(webhooks, uid);
      const result = change(before);
      const others = webhooks.filter(state => state.uid !== uid);
      const next = { ...document, webhooks: [...others, result].slice(-statesKept) };
      return { next: result === before ? undefined : next, result };
    });
    return result;
  };
  return {
    read: async factory => (await documents.read(sendersDocument(factory))).webhooks,
    learn: changeState,
    act: changeState,
  };
}

function sendersDocument(factory: string): StoredDocument<z.output<typeof sendersShape>> {
  return {
    kind: 'senders',
    factory,
    shape: sendersShape,
    whenMissing: { formatVersion: 1, webhooks: [] },
    // Whoever edits it only makes the daemon ask a provider again.
    whenEdited: state => state,
  };
}
