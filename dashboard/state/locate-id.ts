import { readSortableIdTime, uidPattern } from '../../schema/ids.ts';
import type { FactoryLocation } from './page-location.ts';

type IdKind = 'delivery' | 'run' | 'webhook' | 'alert';

const kinds: Readonly<Record<string, IdKind>> = { dlv: 'delivery', run: 'run', wh: 'webhook', alr: 'alert' };

/** Says what a complete ID is the ID of; undefined if the text is no such ID. */
export function findIdKind(text: string): IdKind | undefined {
  const kind = kinds[text.split('_', 1)[0] ?? ''];
  const isComplete = uidPattern.test(text) || readSortableIdTime(text) !== undefined;
  return isComplete ? kind : undefined;
}

/** The page of what has this ID, in a factory; undefined if the text is no complete ID. */
export function locateId(id: string, factory: string): FactoryLocation | undefined {
  const kind = findIdKind(id);
  if (kind === undefined) return undefined;
  return kind === 'alert'
    ? { page: 'settings', factory, id: 'alerts', query: { alert: id } }
    : { page: kind, factory, id };
}
