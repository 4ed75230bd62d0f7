/**
 * Where the dashboard is. It stands behind the # of the address: no server or other site ever gets to see it, and any
 * file server can serve the page.
 */
export type Place =
  | { readonly page: 'home' }
  | { readonly page: 'automations'; readonly factory: string }
  | { readonly page: 'new-automation'; readonly factory: string }
  | { readonly page: 'automation'; readonly factory: string; readonly id: string }
  | { readonly page: 'edit-automation'; readonly factory: string; readonly id: string }
  | { readonly page: 'webhooks'; readonly factory: string }
  | { readonly page: 'new-webhook'; readonly factory: string }
  | { readonly page: 'webhook'; readonly factory: string; readonly id: string }
  | { readonly page: 'delivery'; readonly factory: string; readonly id: string }
  | { readonly page: 'run'; readonly factory: string; readonly id: string }
  | { readonly page: 'status'; readonly factory: string }
  | { readonly page: 'unknown' };

export type Page = Place['page'];

/** The segments after the factory; `:id` stands for any one. */
const patterns: Readonly<Record<Exclude<Page, 'home' | 'unknown'>, readonly string[]>> = {
  automations: ['automations'],
  'new-automation': ['new-automation'],
  automation: ['automations', ':id'],
  'edit-automation': ['automations', ':id', 'edit'],
  webhooks: ['webhooks'],
  'new-webhook': ['new-webhook'],
  webhook: ['webhooks', ':id'],
  delivery: ['deliveries', ':id'],
  run: ['runs', ':id'],
  status: ['status'],
};

/** The `href` of a place. */
export function hrefOf(to: Place): string {
  if (to.page === 'home' || to.page === 'unknown') return '#/';
  const id = 'id' in to ? to.id : '';
  const segments = patterns[to.page].map(segment => (segment === ':id' ? id : segment));
  return `#/${[to.factory, ...segments].map(encodeURIComponent).join('/')}`;
}

/** The place that the part of an address after its # names. */
export function placeOf(hash: string): Place {
  const segments = decoded(hash.replace(/^#?\/?/, ''));
  if (segments === undefined) return { page: 'unknown' };
  const [factory, ...rest] = segments;
  if (factory === undefined) return { page: 'home' };
  for (const [page, pattern] of Object.entries(patterns)) {
    if (pattern.length !== rest.length) continue;
    if (!pattern.every((segment, index) => segment === ':id' || segment === rest[index])) continue;
    return { page, factory, ...(pattern.includes(':id') && { id: rest[1] }) } as Place;
  }
  return { page: 'unknown' };
}

function decoded(path: string): string[] | undefined {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
