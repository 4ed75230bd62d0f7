import { readSortableIdTime, uidPattern } from '../../schema/ids.ts';

/**
 * A page of the dashboard and what it shows. It is the part of the address after the #, so no server or other site sees
 * it, and any file server can serve the dashboard.
 */
export type PageLocation =
  | { readonly page: 'home' }
  | { readonly page: 'sessions' }
  | (InFactory & { readonly page: ListPage })
  | (InFactory & { readonly page: SinglePage; readonly id: string })
  | { readonly page: 'unknown' };

interface InFactory {
  readonly factory: string;
  /** The choices on the page, such as the filters of a list. */
  readonly query?: LocationQuery;
}

type ListPage =
  | ('overview' | 'automations' | 'new-automation' | 'webhooks' | 'new-webhook')
  | ('deliveries' | 'runs');
type SinglePage = 'automation' | 'webhook' | 'delivery' | 'run' | 'settings';

/** The part of an address after its `?`. */
export type LocationQuery = Readonly<Record<string, string>>;

export type PageName = PageLocation['page'];

/** A page of one factory. */
export type FactoryLocation = Extract<PageLocation, { readonly factory: string }>;

/** The segments after the factory; `:id` stands for any segment. */
const patterns: Readonly<Record<FactoryLocation['page'], readonly string[]>> = {
  overview: ['overview'],
  automations: ['automations'],
  'new-automation': ['new-automation'],
  automation: ['automations', ':id'],
  webhooks: ['webhooks'],
  'new-webhook': ['new-webhook'],
  webhook: ['webhooks', ':id'],
  deliveries: ['deliveries'],
  delivery: ['deliveries', ':id'],
  runs: ['runs'],
  run: ['runs', ':id'],
  settings: ['settings', ':id'],
};

/** Addresses of earlier releases, after the factory, and where their pages are now. */
const moved: Readonly<Record<string, readonly string[]>> = {
  status: ['settings', 'branch'],
  audit: ['settings', 'audit'],
  settings: ['settings', 'branch'],
};

export function toHref(to: PageLocation): string {
  if (to.page === 'sessions') return '#/sessions';
  if (to.page === 'home' || to.page === 'unknown') return '#/';
  const id = 'id' in to ? to.id : '';
  const segments = patterns[to.page].map(segment => (segment === ':id' ? id : segment));
  const query = String(new URLSearchParams(to.query));
  return `#/${[to.factory, ...segments].map(encodeURIComponent).join('/')}${query && `?${query}`}`;
}

/** Parses the part of an address that starts with its #. */
export function parseHref(hash: string): PageLocation {
  const [path = '', search] = hash.replace(/^#?\/?/, '').split('?');
  const segments = decodeSegments(path);
  if (segments === undefined) return { page: 'unknown' };
  const [factory, ...given] = segments;
  if (factory === undefined) return { page: 'home' };
  if (factory === 'sessions' && given.length === 0) return { page: 'sessions' };
  const [only = 'overview', ...others] = given;
  const isEditor = only === 'automations' && others[1] === 'edit';
  const rest = others.length === 0 ? (moved[only] ?? [only]) : isEditor ? given.slice(0, -1) : given;
  for (const [page, pattern] of Object.entries(patterns)) {
    if (pattern.length !== rest.length) continue;
    if (!pattern.every((segment, index) => segment === ':id' || segment === rest[index])) continue;
    return {
      ...{ page, factory },
      ...(pattern.includes(':id') && { id: rest[1] }),
      ...(search && { query: Object.fromEntries(new URLSearchParams(search)) }),
    } as PageLocation;
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

type IdKind = 'delivery' | 'run' | 'webhook' | 'alert';

const kinds: Readonly<Record<string, IdKind>> = { dlv: 'delivery', run: 'run', wh: 'webhook', alr: 'alert' };

/** Says what a complete ID is the ID of; undefined if the text is no such ID. */
export function findIdKind(text: string): IdKind | undefined {
  const kind = kinds[text.split('_', 1)[0] ?? ''];
  const isComplete = uidPattern.test(text) || readSortableIdTime(text) !== undefined;
  return isComplete ? kind : undefined;
}

/** The page of what has this ID, in a factory; undefined if the text is no complete ID. */
export function locateId(id: string, factory: string): FactoryLocation | undefined {
  const kind = findIdKind(id);
  if (kind === undefined) return undefined;
  return kind === 'alert'
    ? { page: 'settings', factory, id: 'alerts', query: { alert: id } }
    : { page: kind, factory, id };
}
