import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { defaultRunner } from '../../schema/delivery.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import { type OfferedRunners, offeredRunnersShape } from '../ports/offered-runners.ts';
import { readWhenChanged } from './read-documents.ts';

type OfferedState = z.output<typeof offeredRunnersShape>;

const onlyDefault: OfferedState = {
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

/** The offered runners, in one document. */
export function openOfferedRunners(documents: Documents): OfferedRunners {
  return {
    read: readWhenChanged(documents, offeredRunnersDocument, ({ runners }) => runners),
    record: async offered => {
      const next: OfferedState = { formatVersion: 1, runners: [...offered] };
      await documents.change(offeredRunnersDocument, async state => ({
        next: isDeepStrictEqual(state, next) ? undefined : next,
        result: undefined,
      }));
    },
  };
}
