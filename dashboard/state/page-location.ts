/**
 * A page of the dashboard and what it shows. It is the part of the address after the #, so no server or other site sees
 * it, and any file server can serve the dashboard.
 */
export type PageLocation =
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

export type PageName = PageLocation['page'];

/** A page of one factory. */
export type FactoryLocation = Extract<PageLocation, { readonly factory: string }>;

/** The segments after the factory; `:id` stands for any segment. */
const patterns: Readonly<Record<FactoryLocation['page'], readonly string[]>> = {
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

export function toHref(to: PageLocation): string {
  if (to.page === 'home' || to.page === 'unknown') return '#/';
  const id = 'id' in to ? to.id : '';
  const segments = patterns[to.page].map(segment => (segment === ':id' ? id : segment));
  return `#/${[to.factory, ...segments].map(encodeURIComponent).join('/')}`;
}

/** Parses the part of an address that starts with its #. */
export function parseHref(hash: string): PageLocation {
  const segments = decodeSegments(hash.replace(/^#?\/?/, ''));
  if (segments === undefined) return { page: 'unknown' };
  const [factory, ...rest] = segments;
  if (factory === undefined) return { page: 'home' };
  for (const [page, pattern] of Object.entries(patterns)) {
    if (pattern.length !== rest.length) continue;
    if (!pattern.every((segment, index) => segment === ':id' || segment === rest[index])) continue;
    return { page, factory, ...(pattern.includes(':id') && { id: rest[1] }) } as PageLocation;
  }
  return { page: 'unknown' };
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
