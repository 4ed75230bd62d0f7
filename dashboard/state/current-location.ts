import { effect, type Signal, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { type LocationQuery, type PageLocation, parseHref, toHref } from './page-location.ts';

/**
 * Whether a secret is on the screen that cannot be shown again. Until the user has stored it, the page stays: it follows
 * neither the address nor the end of the session.
 */
export const secretOnScreen = signal(false);

/** Whether the page has changes that are not applied. The user is asked before the page is left. */
export const changesOnScreen = signal(false);

/** The address that the user wants to go to, while the page asks whether to drop its changes. */
export const askedAddress = signal<string | undefined>(undefined);

/** The page that is shown. */
export const currentLocation = signal<PageLocation>({ page: 'unknown' });

/** What the page calls itself in the title of the window. */
export const windowTitle = signal('');

/** Keeps `currentLocation` in step with the address bar, unless something on the page must not be lost. */
export function followAddress(): void {
  const read = () => {
    if (secretOnScreen.value) return;
    const wanted = parseHref(location.hash);
    const isElsewhere = toHref(wanted) !== toHref(currentLocation.peek());
    if (changesOnScreen.value && isElsewhere) askedAddress.value = location.hash;
    else currentLocation.value = wanted;
  };
  effect(read);
  addEventListener('hashchange', read);
}

/** The choices in the address of the page; none if it has no query. */
export function readQuery(): LocationQuery {
  const { value: location } = currentLocation;
  return 'query' in location ? (location.query ?? {}) : {};
}

/** Answers the question of `askedAddress`: goes there, or keeps the page with its changes. */
export function answerLeaving(leaves: boolean): void {
  askedAddress.value = undefined;
  if (!leaves) history.replaceState(null, '', toHref(currentLocation.value));
  // The address is followed now.
  else changesOnScreen.value = false;
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
  useHold(secretOnScreen, true);
}

/** Asks before the page is left as long as there are changes. */
export function useChangesOnScreen(hasChanges: boolean): void {
  useHold(changesOnScreen, hasChanges);
}

function useHold(held: Signal<boolean>, holds: boolean): void {
  useLayoutEffect(() => {
    if (!holds) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    held.value = true;
    addEventListener('beforeunload', ask);
    return () => {
      held.value = false;
      removeEventListener('beforeunload', ask);
    };
  }, [held, holds]);
}
