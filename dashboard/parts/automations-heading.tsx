import type { ComponentChildren } from 'preact';
import { useFactory } from '../state/current-factory.ts';
import { toHref } from '../state/page-location.ts';
import { PageHeading } from './page-heading.tsx';

type Tab = 'automations' | 'webhooks';

const tabs: readonly (readonly [Tab, string])[] = [
  ['automations', 'Automations'],
  ['webhooks', 'Webhooks'],
];

interface Properties {
  readonly tab: Tab;
  /** The actions of the tab. */
  readonly children?: ComponentChildren;
}

/** The top of the Automations page with its two tabs. */
export function AutomationsHeading({ tab, children }: Properties) {
  const { factory } = useFactory();
  return (
    <>
      <PageHeading title={tabs.find(([page]) => page === tab)?.[1] ?? ''}>
        <div class="actions push">{children}</div>
      </PageHeading>
      <nav class="tabs" aria-label="Views">
        {tabs.map(([page, label]) => (
          <a key={page} href={toHref({ page, factory })} aria-current={page === tab ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
    </>
  );
}
