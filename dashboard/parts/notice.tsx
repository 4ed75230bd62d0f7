import type { ComponentChildren } from 'preact';
import type { SignName } from '../text/looks.ts';
import { Sign } from './signs.tsx';

interface Properties {
  readonly tone?: 'bad' | 'warn';
  readonly sign?: SignName;
  /** The cause, as a sentence. */
  readonly cause: ComponentChildren;
  /** Follows the cause on its line. */
  readonly more?: ComponentChildren;
  /** What to do, on a line of its own. */
  readonly children?: ComponentChildren;
  /** One button or link. */
  readonly action?: ComponentChildren;
  /** Whether screen readers tell it at once, because it answers what the user did. */
  readonly isAlert?: boolean;
}

/** A problem in a sentence: its cause, what to do, and one button. At most one on a page. */
export function Notice({ tone, sign, cause, more, children, action, isAlert = false }: Properties) {
  const shown = sign ?? (tone === 'bad' ? 'failed' : tone === 'warn' ? 'warning' : 'waiting');
  return (
    <div class={`notice ${tone ?? ''}`} role={isAlert ? 'alert' : undefined}>
      <Sign name={shown} />
      <div>
        <b>{cause}</b> {more !== undefined && <span class="t2">{more}</span>}
      </div>
      {children !== undefined && <div class="t2">{children}</div>}
      {action !== undefined && <div class="actions">{action}</div>}
    </div>
  );
}
