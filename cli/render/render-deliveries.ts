import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { openTable } from './render-table.ts';

/** Opens a table of deliveries, whose rows may come little by little. */
export function openDeliveryTable(): (deliveries: readonly DeliveryView[]) => string {
  const table = openTable(['ID', 'WEBHOOK', 'TIME', 'SIZE', 'OUTCOME', '']);
  return deliveries =>
    table(
      deliveries.map(({ id, webhook, at, size, outcome, reason, duplicateOf }) => {
        const note = reason ?? (duplicateOf ? `of ${duplicateOf}` : '');
        return [id, webhook, at, String(size), outcome, note];
      }),
    );
}
