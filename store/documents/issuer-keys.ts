import type { Documents, StoredDocument } from '../ports/documents.ts';
import { type IssuerKeysState, issuerKeysShape, type StoredIssuerKeys } from '../ports/issuer-keys.ts';
import { readWhenChanged } from './read-documents.ts';

/** @limit Issuers whose keys are kept, those that were fetched last: a restart while an issuer is down needs only its own. */
const issuersMax = 500;

const noKeys: IssuerKeysState = { formatVersion: 1, issuers: [] };

const issuerKeysDocument: StoredDocument<IssuerKeysState> = {
  kind: 'issuers',
  shape: issuerKeysShape,
  whenMissing: noKeys,
  // Nobody may get in by editing the file, and the keys are fetched again.
  whenEdited: () => noKeys,
};

/** The keys of issuers, in one document. */
export function openIssuerKeys(documents: Documents): StoredIssuerKeys {
  return {
    read: readWhenChanged(documents, issuerKeysDocument, state => state),
    keep: async kept => {
      await documents.change(issuerKeysDocument, async state => {
        const others = state.issuers.filter(({ issuer }) => issuer !== kept.issuer);
        return { next: { ...state, issuers: [...others, kept].slice(-issuersMax) }, result: undefined };
      });
    },
  };
}
