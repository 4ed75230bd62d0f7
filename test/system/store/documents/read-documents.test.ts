import { expect, test } from 'vitest';
import { openApiTokens } from '../../../../store/documents/api-tokens.ts';
import { openReconcileStatuses } from '../../../../store/documents/applied-states.ts';
import { listCopiedDocuments } from '../../../../store/documents/copied-documents.ts';
import { freezeDocuments } from '../../../../store/documents/read-documents.ts';
import { openFileDocuments } from '../../../../store/embedded/files/file-documents.ts';
import type { Documents } from '../../../../store/ports/documents.ts';
import { newHome } from '../../../support/factory.ts';

/** The documents of a home. Another process changes two of them while the second one is read for the first time. */
function changedMeanwhile(changesMax: number) {
  const documents = openFileDocuments(newHome(), 5_000);
  const tokens = openApiTokens(documents, () => new Date());
  const statuses = openReconcileStatuses(documents);
  let changes = 0;
  const change = async () => {
    const name = `token-${++changes}`;
    await tokens.create({ name, factory: null, permission: 'read', sha256: '0'.repeat(64) });
    await statuses.change(`factory-${changes}`, status => ({ ...status }));
  };
  const read: Documents['read'] = async document => {
    const data = await documents.read(document);
    if (document.kind === 'tokens' && changes < changesMax) await change();
    return data;
  };
  return { ...documents, read };
}

test('reads again what changed meanwhile, so that all of it is of one moment', async () => {
  let moments = 0;
  const frozen = await freezeDocuments(changedMeanwhile(2), listCopiedDocuments, () => moments++);
  const { length } = await openApiTokens({ ...changedMeanwhile(0), ...frozen }, () => new Date()).list();
  expect([length, await frozen.listFactories()]).toEqual([2, ['factory-1', 'factory-2']]);
  expect(moments).toBe(3);
});

test('gives up if they change all the time', async () => {
  const reading = freezeDocuments(
    changedMeanwhile(Number.POSITIVE_INFINITY),
    listCopiedDocuments,
    () => undefined,
  );
  await expect(reading).rejects.toMatchObject({ code: 'locked' });
});
