import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defaultRunner } from '../../schema/delivery.ts';
import {
  findSenderState,
  type SenderState,
  senderStateShape,
  settleSenderTimes,
} from '../../schema/sender.ts';
import {
  type IssuerKeysState,
  issuerKeysShape,
  type OfferedRunners,
  offeredRunnersShape,
  type SenderStates,
  type StoredIssuerKeys,
} from '../ports/daemon-records.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';

type OfferedState = z.output<typeof offeredRunnersShape>;

/** What is offered before a daemon has started. */
export const onlyDefault: OfferedState = {
  formatVersion: 1,
  runners: [
    { name: defaultRunner, kind: 'directory', factories: ['*'], automations: ['*'], repositories: [] },
  ],
};

const offeredRunnersDocument: StoredDocument<OfferedState> = {
  kind: 'runners',
  shape: offeredRunnersShape,
  whenMissing: onlyDefault,
  // Whoever edits it only makes plans wrong: the daemon has its own settings, and writes it again when it starts.
  whenEdited: state => state,
};

/** The offered runners of a store that one daemon serves, in one document. */
export function openOfferedRunners(documents: Documents): OfferedRunners {
  return {
    read: async () => (await documents.read(offeredRunnersDocument)).runners,
    record: async (_, offered) => {
      const next: OfferedState = { formatVersion: 1, runners: [...offered] };
      await documents.change(offeredRunnersDocument, async state => ({
        next: isDeepStrictEqual(state, next) ? undefined : next,
        result: undefined,
      }));
    },
  };
}

/** @limit Issuers that no webhook and no setting names any more, and whose keys are kept, those that were fetched last. */
const unneededIssuersMax = 20;

const noKeys: IssuerKeysState = { formatVersion: 1, issuers: [] };

const issuerKeysDocument: StoredDocument<IssuerKeysState> = {
  kind: 'issuers',
  shape: issuerKeysShape,
  whenMissing: noKeys,
  // Nobody may get in by editing the file, and the keys are fetched again.
  whenEdited: () => noKeys,
};

/** The keys of issuers, in one document. */
export function openIssuerKeys(documents: Pick<Documents, 'read' | 'change'>): StoredIssuerKeys {
  return {
    read: () => documents.read(issuerKeysDocument),
    keep: async (kept, isNeeded) => {
      await documents.change(issuerKeysDocument, async state => {
        const others = state.issuers.filter(({ issuer }) => issuer !== kept.issuer);
        const unneeded = others.filter(({ issuer }) => !isNeeded(issuer)).slice(-unneededIssuersMax);
        const issuers = others.filter(other => isNeeded(other.issuer) || unneeded.includes(other));
        return { next: { ...state, issuers: [...issuers, kept] }, result: undefined };
      });
    },
  };
}

/** @limit Webhooks of a factory whose providers' answers are kept, those that were asked last: deleted webhooks leave theirs. */
const statesKept = 100;

const sendersShape = z.strictObject({ formatVersion: z.literal(1), webhooks: z.array(senderStateShape) });

/** The states of a factory's senders, in one document. Times ahead of now are settled, which the next change keeps. */
export function openSenderStates(documents: Documents, now: () => Date): SenderStates {
  const settle = (state: SenderState) => settleSenderTimes(state, now().getTime());
  const changeState: SenderStates['learn'] = async (factory, uid, change) => {
    const { result } = await documents.change(sendersDocument(factory), async ({ webhooks, ...document }) => {
      const before = findSenderState(webhooks, uid);
      const result = change(settle(before));
      const others = webhooks.filter(state => state.uid !== uid);
      const next = { ...document, webhooks: [...others, result].slice(-statesKept) };
      return { next: result === before ? undefined : next, result };
    });
    return result;
  };
  return {
    read: async factory => (await documents.read(sendersDocument(factory))).webhooks.map(settle),
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
