import { type FactoryLocation, findIdKind, locateId, type PageLocation, toHref } from './page-location.ts';

/** Something to jump to. */
export interface JumpTarget {
  readonly group: 'Automations' | 'Webhooks' | 'IDs' | 'Factories' | 'Go to';
  readonly icon: 'automation' | 'webhook' | 'delivery' | 'run' | 'settings' | 'overview' | 'search';
  readonly label: string;
  readonly href: string;
  /** What stands at the right. */
  readonly aside?: string;
  readonly keys?: string;
}

/** What a factory has that can be jumped to. */
export interface JumpStock {
  readonly webhooks: readonly { readonly name: string; readonly uid: string }[];
  readonly automations: readonly {
    readonly name: string;
    readonly triggers: readonly { readonly webhook: string | null }[];
  }[];
  /** The IDs of the newest deliveries and runs. */
  readonly ids: readonly string[];
}

/** Targets that are shown of one group. */
const groupMax = 6;
/** Characters of an ID that find it. */
const idCharsMin = 4;

/** Finds what a text may mean in a factory: names, parts of IDs, pages; last the search for deliveries that contain it. */
export function findTargets(
  text: string,
  factory: string,
  stock: JumpStock,
  places: readonly JumpTarget[],
): JumpTarget[] {
  const sought = text.trim().toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(sought);
  const automations = stock.automations
    .filter(({ name }) => has(name))
    .map(({ name, triggers }) => {
      const aside = [...new Set(triggers.flatMap(({ webhook }) => webhook ?? []))].join(', ');
      const href = toHref({ page: 'automation', factory, id: name });
      return { group: 'Automations', icon: 'automation', label: name, href, aside } as const;
    });
  const webhooks = stock.webhooks
    .filter(({ name }) => has(name))
    .map(({ name, uid }) => {
      const href = toHref({ page: 'webhook', factory, id: uid });
      return { group: 'Webhooks', icon: 'webhook', label: name, href } as const;
    });
  const part = toIdPart(sought);
  const ids =
    part === undefined
      ? []
      : [...stock.webhooks.map(({ uid }) => uid), ...stock.ids]
          .filter(id => id.includes(part))
          .flatMap(id => toIdTarget(id, factory));
  const pages = places.filter(({ label }) => has(label));
  const query = { search: text.trim() };
  const search: JumpTarget[] =
    sought === ''
      ? []
      : [
          {
            ...{ group: 'Go to', icon: 'delivery', label: `Deliveries that contain “${text.trim()}”` },
            href: toHref({ page: 'deliveries', factory, query }),
          },
        ];
  return [automations, webhooks, ids, pages].flatMap(found => found.slice(0, groupMax)).concat(search);
}

/** The page that a complete ID opens at once. */
export function findExact(text: string, factory: string): PageLocation | undefined {
  return locateId(text.trim(), factory);
}

function toIdTarget(id: string, factory: string): JumpTarget[] {
  const kind = findIdKind(id);
  const to = locateId(id, factory);
  if (!to || (kind !== 'delivery' && kind !== 'run' && kind !== 'webhook')) return [];
  return [{ group: 'IDs', icon: kind, label: id, href: toHref(to), aside: kind }];
}

/** The part of an ID in `…z5egtcs`, `dlv_…z5egtcs` or `z5egtcs`; undefined if the text is none. */
export function toIdPart(text: string): string | undefined {
  const part = text
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z]{2,3}_)?(?:…|\.\.\.)/, '');
  return part.length >= idCharsMin && /^(?:[a-z]{2,3}_)?[0-9a-z]+$/.test(part) ? part : undefined;
}

/** The pages of a factory that no key leads to. */
export function listFurtherPlaces(factory: string): JumpTarget[] {
  const place = (label: string, icon: JumpTarget['icon'], to: FactoryLocation): JumpTarget => ({
    ...{ group: 'Go to', label, icon },
    href: toHref(to),
  });
  const settings = ['Secrets', 'Tokens', 'Alerts', 'Audit'].map(section =>
    place(section === 'Audit' ? 'Audit log' : section, 'settings', {
      ...({ page: 'settings', factory } as const),
      id: section.toLowerCase(),
    }),
  );
  return [
    place('Runs that failed', 'run', { page: 'runs', factory, query: { state: 'failed' } }),
    place('New webhook', 'webhook', { page: 'new-webhook', factory }),
    place('New automation', 'automation', { page: 'new-automation', factory }),
    ...settings,
  ];
}
