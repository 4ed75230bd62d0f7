import type { ComponentChildren } from 'preact';

interface Properties {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Stands in for a list without rows. */
export function Empty({ title, children }: Properties) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
