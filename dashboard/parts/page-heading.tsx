import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { windowTitle } from '../state/current-location.ts';
import { type PageLocation, toHref } from '../state/page-location.ts';
import { Icon } from './icons.tsx';

interface Properties {
  readonly title: string;
  /** Stands before the title: a monogram. */
  readonly mark?: ComponentChildren;
  /** Stands before the title, within the heading: a sign. */
  readonly before?: ComponentChildren;
  /** Follows the title on its line: a state, a tag. */
  readonly aside?: ComponentChildren;
  /** The line below the title. */
  readonly sub?: ComponentChildren;
  /** Buttons at the right. */
  readonly actions?: ComponentChildren;
  /** Whether the title is the verdict of the page. */
  readonly isVerdict?: boolean;
  /** In the title of the window, if it is not the title of the page. */
  readonly windowTitle?: string;
}

/** The heading of a page. It takes the focus when the page appears, so that screen readers start there. */
export function PageHeading(properties: Properties) {
  const { title, mark, before, aside, sub, actions, isVerdict = false, windowTitle = title } = properties;
  const heading = useRef<HTMLHeadingElement>(null);
  useWindowTitle(windowTitle);
  // At once: later, it would take the focus from where somebody has gone meanwhile.
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="head">
      <div class="flow">
        {mark}
        <div>
          <h1 ref={heading} tabIndex={-1} class={isVerdict ? 'verdict' : ''}>
            {before}
            <bdi>{title}</bdi> {aside}
          </h1>
          {sub !== undefined && <div class="sub dots">{sub}</div>}
        </div>
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}

/** Names the window after the page. */
export function useWindowTitle(title: string): void {
  useEffect(() => {
    windowTitle.value = title;
  }, [title]);
}

export function Breadcrumb({ to, label }: { readonly to: PageLocation; readonly label: string }) {
  return (
    <nav aria-label="Back">
      <a class="crumb" href={toHref(to)}>
        <Icon name="left" />
        {label}
      </a>
    </nav>
  );
}

export function Brand() {
  return (
    <>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <circle cx="19" cy="6.5" r="2.5" />
        <path d="M19 9v11a5.5 5.5 0 0 1-11 0v-3.5l4 4" />
      </svg>
      <b>hookmill</b>
    </>
  );
}
