import { type AppliedState, appliedStateShape, emptyAppliedState } from '../../schema/applied-state.ts';
import type { AppliedStates } from '../ports.ts';
import type { Documents, StoredDocument } from './documents.ts';

/** The applied states, each in a document of its factory. */
export function openAppliedStates(documents: Documents): AppliedStates {
  return {
    listFactories: documents.listFactories,
    read: factory => documents.read(documentOf(factory)),
    change: async (factory, change) => {
      const { data, result } = await documents.change(documentOf(factory), async state => {
        const { next, result } = await change(state);
        if (!next) return { result };
        const { isDamaged: _, ...content } = next;
        return { next: { ...content, serial: state.serial + 1 }, result };
      });
      return { state: data, result };
    },
    readVersion: factory => documents.readVersion(documentOf(factory)),
    watch: documents.watch,
  };
}

function documentOf(factory: string): StoredDocument<AppliedState> {
  return {
    kind: 'applied',
    factory,
    shape: appliedStateShape,
    whenMissing: emptyAppliedState(factory),
    whenEdited: state => ({ ...state, isDamaged: true }),
  };
}
