import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

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
