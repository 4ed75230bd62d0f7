import type { ComponentChildren } from 'preact';
import { usePopup } from '../state/use-popup.ts';
import { Icon } from './icons.tsx';

/** An entry of a menu; null: a line between groups. An entry with `href` is a link. */
type MenuEntry = {
  readonly label: string;
  readonly onChoose?: () => void;
  readonly href?: string;
  /** Whether it destroys something. */
  readonly isBad?: boolean;
  /** What stands at the right: a key, a value. */
  readonly aside?: ComponentChildren;
} | null;

interface Properties {
  /** What the menu is about, for screen readers. */
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  /** What the button shows instead of three dots. */
  readonly children?: ComponentChildren;
  readonly class?: string;
  /** Text above the entries. */
  readonly lead?: ComponentChildren;
}

/** A button that opens a menu. */
export function Menu({ label, entries, children, class: className = 'btn icon', lead }: Properties) {
  const { open, close, button, popup } = usePopup();
  return (
    <>
      <button type="button" class={className} aria-label={label} aria-haspopup="menu" {...button}>
        {children ?? <Icon name="more" />}
      </button>
      {open && (
        <div class="menu" {...popup}>
          {lead !== undefined && <div class="lead">{lead}</div>}
          <div role="menu" aria-label={label} class="menu-entries">
            {entries.map((entry, index) => {
              if (entry === null) return <hr key={index} />;
              const shown = {
                role: 'menuitem' as const,
                class: entry.isBad ? 'bad' : '',
                tabIndex: -1,
                'data-item': true,
                onClick: () => {
                  close();
                  entry.onChoose?.();
                },
              };
              const content = (
                <>
                  {entry.label}
                  {entry.aside !== undefined && <span class="push t3">{entry.aside}</span>}
                </>
              );
              return entry.href === undefined ? (
                <button key={entry.label} type="button" {...shown}>
                  {content}
                </button>
              ) : (
                <a key={entry.label} href={entry.href} {...shown}>
                  {content}
                </a>
              );
            })}
          </div>
        </div>
      )}
    </>
  );
}
