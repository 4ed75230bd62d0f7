import { effect, signal } from '@preact/signals';
import { type PageLocation, parseHref, toHref } from './page-location.ts';
import { secretOnScreen } from './secret-on-screen.ts';

/** The page that is shown. */
export const currentLocation = signal<PageLocation>({ page: 'unknown' });

/** Keeps `currentLocation` in step with the address bar, as soon as no secret is on the screen. */
export function followAddress(): void {
  const read = () => {
    if (!secretOnScreen.value) currentLocation.value = parseHref(location.hash);
  };
  effect(read);
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
