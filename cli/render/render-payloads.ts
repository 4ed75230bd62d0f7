import type { PayloadsView } from '../../operations/log/payloads.ts';
import { colours } from './colours.ts';
import { renderTable } from './render-table.ts';

/** Renders the shape of payloads: a line for each path, with how often it occurs, its types and some values. */
export function renderPayloads({ deliveries, paths, hasMore }: PayloadsView): string {
  if (deliveries === 0) return '';
  const rows = paths.map(({ path, deliveries: count, types, examples, isEnumeration }) => {
    const values = examples.map(value => JSON.stringify(value)).join(', ');
    return [
      path,
      `${count} of ${deliveries}`,
      types.map(({ type }) => type).join(' or '),
      values === '' ? '' : isEnumeration ? `only ${values}` : `e.g. ${values}`,
    ];
  });
  const more = hasMore ? `${colours.dim('Further paths are not shown.')}\n` : '';
  return `${renderTable(['PATH', 'DELIVERIES', 'TYPE', 'VALUES'], rows)}${more}`;
}
