import { DeliveryPanel } from './delivery-panel.tsx';
export function DeliveryDetail({
  id,
}: {
  readonly id: string;
  readonly list: unknown;
  readonly onSearch: (text: string) => void;
}) {
  return <DeliveryPanel id={id} />;
}
