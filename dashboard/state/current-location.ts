import { effect, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { type PageLocation, parseHref, toHref } from './page-location.ts';

/**
 * Whether a secret is on the screen that cannot be shown again. Until the user has stored it, the page stays: it follows
 * neither the address nor the end of the session.
 */
export const secretOnScreen = signal(false);

/** The page that is shown. */
export const currentLocation = signal<PageLocation>({ page: 'unknown' });

/** What the page calls itself in the title of the window. */
export const windowTitle = signal('');

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

/** Keeps the page while the component is on it. The browser asks before it reloads or closes the page. */
export function useSecretOnScreen(): void {
  useLayoutEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    secretOnScreen.value = true;
    addEventListener('beforeunload', ask);
    return () => {
      secretOnScreen.value = false;
      removeEventListener('beforeunload', ask);
    };
  }, []);
}
