import { hash } from 'node:crypto';
import { z } from 'zod';
import { toCanonicalJson } from '../../schema/text/json-text.ts';
import type { DocumentId, Documents, StoredDocument } from '../ports/documents.ts';
import { credentialOwner, type Seal, type SealedFor } from '../ports/seal.ts';
import { StoreError } from '../ports/store-error.ts';
import { tokensDocument } from './api-tokens.ts';
import { appliedStateDocument, reconcileStatusDocument } from './applied-states.ts';
import { secretsDocument, teamSecretOwner } from './team-secrets.ts';

/** The documents of a source, and the seal of the values in them. */
export interface SealedDocuments {
  readonly documents: Pick<Documents, 'read'>;
  readonly seal: Seal;
}

export interface SealedTarget extends SealedDocuments {
  readonly documents: Pick<Documents, 'read' | 'change'>;
}

/** All documents of a store. */
export interface SealedStore extends SealedTarget {
  readonly documents: Pick<Documents, 'read' | 'change' | 'listFactories'>;
}

/** A document that is copied from one store to another. */
export interface CopiedDocument {
  /** Names the content of the document in messages, in the plural. */
  readonly part: string;
  readonly id: DocumentId;
  read(documents: Pick<Documents, 'read'>): Promise<object>;
  /** Fails with `other-content` if the target has another document. Values that are sealed differently are equal. */
  requireFits(from: SealedDocuments, to: SealedDocuments): Promise<void>;
  /** Copies the document unless it is there. A value that the target's key does not open is sealed again. */
  copy(from: SealedDocuments, to: SealedTarget): Promise<void>;
  /** Seals the values again that the key has not sealed, and returns their number. */
  reseal(side: SealedTarget): Promise<number>;
  /** Lists why sealed values do not open. */
  listUnopened(side: SealedDocuments): Promise<string[]>;
  /** The number of things in the document, and a digest of its content without sealed values. */
  summarize(documents: Pick<Documents, 'read'>): Promise<{ readonly count: number; readonly digest: string }>;
}

type Replace = (sealed: string, owner: SealedFor) => Promise<string> | string;

interface Content<T> {
  readonly part: string;
  count(data: T): number;
  /** Replaces the sealed values. */
  replaceSealed(data: T, replace: Replace): Promise<T>;
}

/** The documents that two stores may have together, the factories' applied states last: they make it serve. */
export function listCopiedDocuments(factories: readonly string[]): CopiedDocument[] {
  return [
    copied(secretsDocument, {
      part: 'team secrets',
      count: ({ secrets }) => secrets.length,
      replaceSealed: async (data, replace) => ({
        ...data,
        secrets: await Promise.all(
          data.secrets.map(async ({ value, ...secret }) =>
            value
              ? {
                  ...secret,
                  value: { ...value, jwe: await replace(value.jwe, teamSecretOwner(secret)) },
                }
              : secret,
          ),
        ),
      }),
    }),
    copied(tokensDocument, {
      part: 'API tokens',
      count: ({ tokens }) => tokens.length,
      replaceSealed: async data => data,
    }),
    ...factories.map(factory =>
      copied(reconcileStatusDocument(factory), {
        part: 'reconcile statuses',
        count: () => 1,
        replaceSealed: async data => data,
      }),
    ),
    ...factories.map(copiedState),
  ];
}

/** Seals all values of a store again that the key has not sealed, and returns their number. */
export async function resealDocuments(side: SealedStore): Promise<number> {
  let count = 0;
  for (const { reseal } of listCopiedDocuments(await side.documents.listFactories())) {
    count += await reseal(side);
  }
  return count;
}

/** Lists what is wrong with the documents: those that cannot be read, values that do not open, missing team secrets. */
export async function checkDocuments(side: SealedStore): Promise<string[]> {
  const problems: string[] = [];
  const collect = async (find: () => Promise<string[]>) => {
    const found = await find().catch((error: unknown) => {
      if (error instanceof StoreError) return [error.message];
      throw error;
    });
    problems.push(...found);
  };
  const factories = await side.documents.listFactories();
  for (const { listUnopened } of listCopiedDocuments(factories)) await collect(() => listUnopened(side));
  await collect(() => requireCompleteCopy(side.documents).then(() => []));
  if (problems.length === 0) await collect(() => listLostSecrets(side.documents, factories));
  return problems;
}

/** The webhooks whose team secret does not exist. */
async function listLostSecrets(
  documents: Pick<Documents, 'read'>,
  factories: readonly string[],
): Promise<string[]> {
  const { secrets } = await documents.read(secretsDocument);
  const names = new Set(secrets.map(({ name }) => name));
  const states = await Promise.all(factories.map(factory => documents.read(appliedStateDocument(factory))));
  return states.flatMap(({ factory, webhooks }) =>
    webhooks
      .filter(({ secretName }) => secretName !== undefined && !names.has(secretName))
      .map(
        ({ name, secretName }) =>
          `the webhook ${name} of the factory ${factory} uses the team secret ${secretName}, which does not exist: set it, and apply`,
      ),
  );
}

function copiedState(factory: string): CopiedDocument {
  return copied(appliedStateDocument(factory), {
    part: 'applied states',
    count: () => 1,
    replaceSealed: async (state, replace) => {
      if (state.isDamaged) throw damagedError(factory);
      const webhooks = state.webhooks.map(async webhook => {
        const { credential, uid } = webhook;
        if (credential.kind !== 'sealed') return webhook;
        const owner = credentialOwner(factory, uid);
        const jwe = await replace(credential.jwe, owner);
        const { previous } = credential;
        const before = previous && { previous: { ...previous, jwe: await replace(previous.jwe, owner) } };
        return { ...webhook, credential: { ...credential, jwe, ...before } };
      });
      return { ...state, webhooks: await Promise.all(webhooks) };
    },
  });
}

function damagedError(factory: string): StoreError {
  const message = `the applied state of the factory ${factory} was changed outside hookmill; apply its definitions, then try again`;
  return new StoreError('corrupt', message);
}

/** The error for a store that is copied to, but has something else already. */
/** Present in a store that was copied to. It is not copied itself. */
const copyDocument: StoredDocument<{ readonly formatVersion: 1; readonly isComplete: boolean }> = {
  kind: 'copy',
  shape: z.strictObject({ formatVersion: z.literal(1), isComplete: z.boolean() }),
  whenMissing: { formatVersion: 1, isComplete: true },
};

/** Marks the target of a copy, so that no daemon serves it before it is complete. */
export async function markCopy(documents: Pick<Documents, 'change'>, isComplete: boolean): Promise<void> {
  const next = { ...copyDocument.whenMissing, isComplete };
  await documents.change(copyDocument, async () => ({ next, result: undefined }));
}

/** Fails with `incomplete` if a copy to the store, or a restore, was stopped. */
export async function requireCompleteCopy(documents: Pick<Documents, 'read'>): Promise<void> {
  if ((await documents.read(copyDocument)).isComplete) return;
  const message = 'a copy or restore to this store is not complete; run it again, or empty the store';
  throw new StoreError('incomplete', message);
}

export function otherContent(what: string): StoreError {
  const message = `the target differs from the source in ${what}; empty it, or copy to another place`;
  return new StoreError('other-content', message);
}

function copied<T extends object>(
  document: StoredDocument<T>,
  { part, count, replaceSealed }: Content<T>,
): CopiedDocument {
  const isEmpty = (data: T) => toCanonicalJson(data) === toCanonicalJson(document.whenMissing);
  /** Whether the target's document has the same content, as the owners of the keys see it. */
  const isCopied = async (from: SealedDocuments, to: SealedDocuments, source: T, target: T) => {
    const wanted = await replaceSealed(source, (sealed, owner) =>
      to.seal.open(sealed, owner).catch(() => from.seal.open(sealed, owner)),
    );
    // A value that does not open is no copy.
    const found = await replaceSealed(target, (sealed, owner) => to.seal.open(sealed, owner).catch(() => ''));
    return toCanonicalJson(wanted) === toCanonicalJson(found);
  };
  const reseal = (from: SealedDocuments, to: SealedDocuments, source: T) =>
    replaceSealed(source, (sealed, owner) =>
      to.seal
        .reseal(sealed, owner)
        .catch(async () => to.seal.seal(await from.seal.open(sealed, owner), owner)),
    );
  return {
    part,
    id: document,
    read: documents => documents.read(document),
    requireFits: async (from, to) => {
      const [source, target] = [await from.documents.read(document), await to.documents.read(document)];
      // A key that is missing is noticed now, not after the delivery log was copied.
      await reseal(from, to, source);
      if (isEmpty(target) || (await isCopied(from, to, source, target))) return;
      const owner = document.factory === undefined ? '' : ` of the factory ${document.factory}`;
      throw otherContent(`${part}${owner}`);
    },
    copy: async (from, to) => {
      const source = await from.documents.read(document);
      if (isEmpty(source)) return;
      await to.documents.change(document, async target => {
        if (await isCopied(from, to, source, target)) return { result: undefined };
        return { next: await reseal(from, to, source), result: undefined };
      });
    },
    ...sealedIn(document, replaceSealed),
    summarize: async documents => {
      const data = await documents.read(document);
      if (isEmpty(data)) return { count: 0, digest: '' };
      const content = await replaceSealed(data, () => '');
      return { count: count(data), digest: hash('sha256', toCanonicalJson(content)) };
    },
  };
}

/** Makes the methods that look only at the sealed values of one document. */
function sealedIn<T extends object>(
  document: StoredDocument<T>,
  replaceSealed: Content<T>['replaceSealed'],
): Pick<CopiedDocument, 'reseal' | 'listUnopened'> {
  return {
    reseal: async ({ documents, seal }) => {
      const { result } = await documents.change(document, async data => {
        let count = 0;
        const next = await replaceSealed(data, async (sealed, owner) => {
          const again = await seal.reseal(sealed, owner);
          if (again !== sealed) count++;
          return again;
        });
        return { next: count > 0 ? next : undefined, result: count };
      });
      return result;
    },
    listUnopened: async ({ documents, seal }) => {
      const reasons: string[] = [];
      await replaceSealed(await documents.read(document), async (sealed, owner) => {
        await seal.open(sealed, owner).catch((error: StoreError) => reasons.push(error.message));
        return sealed;
      });
      return reasons;
    },
  };
}
