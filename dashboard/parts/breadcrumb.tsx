import { hrefOf, type Place } from '../state/page-location.ts';

export function Breadcrumb({ to, label }: { readonly to: Place; readonly label: string }) {
  return (
    <nav class="breadcrumb" aria-label="Back">
      <a href={hrefOf(to)}>← {label}</a>
    </nav>
  );
}
