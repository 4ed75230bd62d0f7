import { signal } from '@preact/signals';
import { type PageLocation, parseHref, toHref } from './page-location.ts';

/** The page that is shown. */
export const currentLocation = signal<PageLocation>({ page: 'unknown' });

/** Keeps `currentLocation` in step with the address bar. */
export function followAddress(): void {
  const read = () => {
    currentLocation.value = parseHref(location.hash);
  };
  read();
  addEventListener('hashchange', read);
}

export function goTo(to: PageLocation): void {
  location.hash = toHref(to);
}

/** Goes to a page, which replaces the current page in the history. */
export function redirectTo(to: PageLocation): void {
  history.replaceState(null, '', toHref(to));
  currentLocation.value = to;
}
