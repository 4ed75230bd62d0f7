import { type PageLocation, toHref } from '../state/page-location.ts';

export function Breadcrumb({ to, label }: { readonly to: PageLocation; readonly label: string }) {
  return (
    <nav class="breadcrumb" aria-label="Back">
      <a href={toHref(to)}>← {label}</a>
    </nav>
  );
}
