import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useFactory } from '../state/current-factory.ts';
import { type PageLocation, toHref } from '../state/page-location.ts';

type Tab = 'automations' | 'webhooks';

const tabs: readonly (readonly [Tab, string])[] = [
  ['automations', 'Automations'],
  ['webhooks', 'Webhooks'],
];

interface AutomationsHeadingProperties {
  readonly tab: Tab;
  /** The actions of the tab. */
  readonly children?: ComponentChildren;
}

interface Properties {
  readonly title: string;
  /** Follows the title on its line. */
  readonly children?: ComponentChildren;
}

/** The heading of a page. It takes the focus when the page appears, so that screen readers start there. */
export function PageHeading({ title, children }: Properties) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · hookmill`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="page-heading">
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{title}</bdi>
      </h1>
      {children}
    </div>
  );
}

export function Breadcrumb({ to, label }: { readonly to: PageLocation; readonly label: string }) {
  return (
    <nav class="breadcrumb" aria-label="Back">
      <a href={toHref(to)}>← {label}</a>
    </nav>
  );
}

/** The top of the Automations page with its two tabs. */
export function AutomationsHeading({ tab, children }: AutomationsHeadingProperties) {
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

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <circle cx="19" cy="6.5" r="2.5" />
        <path d="M19 9v11a5.5 5.5 0 0 1-11 0v-3.500l4 4" />
      </svg>
      hookmill
    </span>
  );
}
