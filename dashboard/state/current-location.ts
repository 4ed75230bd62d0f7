import { signal } from '@preact/signals';
import { hrefOf, type Place, placeOf } from './page-location.ts';

/** The place that is shown. */
export const place = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

export function go(to: Place): void {
  location.hash = hrefOf(to);
}

/** Goes there without leaving this place in the history. */
export function goInstead(to: Place): void {
  history.replaceState(null, '', hrefOf(to));
  place.value = to;
}
