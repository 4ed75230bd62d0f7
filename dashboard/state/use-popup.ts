import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

/**
 * What floats below a button until the user chooses, presses Escape or clicks elsewhere. The browser draws it above
 * everything else, and keeps track of the clicks. `popup` goes on the floating element, `button` on the button.
 */
export function usePopup() {
  const id = useId();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const floating = popup.current;
    if (!open || !floating) return;
    // The style sheet places it at its source.
    floating.showPopover({ source: button.current ?? undefined } as object);
    const first = ['[aria-pressed="true"]', 'input', '[aria-selected="true"]', '[data-item]']
      .map(each => floating.querySelector<HTMLElement>(each))
      .find(found => found !== null);
    first?.focus();
  }, [open]);
  const close = () => {
    popup.current?.hidePopover();
    button.current?.focus();
  };
  return {
    open,
    close,
    button: {
      ref: button,
      'aria-expanded': open,
      'aria-controls': open ? id : undefined,
      onClick: () => setOpen(true),
    },
    popup: {
      ref: popup,
      id,
      popover: 'auto' as const,
      // Unlike `toggle`, at once: until then, the button would not open it again.
      onBeforeToggle: (event: { readonly newState: string }) => {
        if (event.newState === 'closed') setOpen(false);
      },
      onKeyDown: moveFocus,
    },
  };
}

/** Moves the focus with the arrow keys, Home and End, and to the next item that begins with a letter. */
function moveFocus(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const items = [...list.querySelectorAll<HTMLElement>('[data-item]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowDown: at + 1,
    ArrowUp: at < 0 ? items.length - 1 : at - 1,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  const isTyping = document.activeElement instanceof HTMLInputElement;
  if (next === undefined || (isTyping && event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) {
    if (!isTyping) findByLetter(items, at, event.key)?.focus();
    return;
  }
  event.preventDefault();
  items[(next + items.length) % items.length]?.focus();
}

function findByLetter(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  if (key.length !== 1 || key === ' ') return undefined;
  const later = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return later.find(({ textContent }) => textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
}
