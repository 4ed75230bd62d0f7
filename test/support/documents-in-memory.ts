import { type Documents, nameDocument } from '../../store/ports/documents.ts';

/** Documents in memory, for one test. Changes come one after the other, and are checked by their shapes. */
export function makeDocuments(): Pick<Documents, 'read' | 'change'> {
  const stored = new Map<string, object>();
  let last: Promise<unknown> = Promise.resolve();
  const read: Documents['read'] = async document =>
    (stored.get(nameDocument(document)) as never) ?? document.whenMissing;
  return {
    read,
    change: (document, change) => {
      const changed = last.then(async () => {
        const { next, result } = await change(await read(document));
        if (next) stored.set(nameDocument(document), document.shape.parse(next));
        return { data: await read(document), result };
      });
      last = changed.catch(() => undefined);
      return changed;
    },
  };
}
