import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** What is pressed: a key as the browser names it, two of them in a row (`g o`), `Shift+R`, `Control+k`. */
export type Keys = string;

const item = 'hookmill-single-keys';
/** Time within which the second of two keys follows, in ms. */
const secondKeyMs = 1_500;

/** Whether single keys do something (WCAG 2.1.4). This browser keeps it. */
export const singleKeys = signal(localStorage.getItem(item) !== 'off');

/** Whether the table of keys is shown. */
export const keysShown = signal(false);

/** Whether the field that jumps to an ID or a name is open. */
export const jumpShown = signal(false);

export function openKeys(): void {
  keysShown.value = true;
}

export function openJump(): void {
  jumpShown.value = true;
}

export function switchSingleKeys(): void {
  singleKeys.value = !singleKeys.value;
  localStorage.setItem(item, singleKeys.value ? 'on' : 'off');
}

const handlers = new Map<Keys, (() => void)[]>();
let first: { readonly key: string; readonly atMs: number } | undefined;

/** Listens to the keyboard. Keys that somebody types into a field, or into a dialog, are not taken. */
export function followKeyboard(): void {
  addEventListener('keydown', event => {
    const keys = readKeys(event);
    const act = keys.map(each => handlers.get(each)?.at(-1)).find(found => found !== undefined);
    first = { key: event.key, atMs: Date.now() };
    if (!act) return;
    event.preventDefault();
    act();
    first = undefined;
  });
}

/** What a press may mean, the longest first. */
function readKeys(event: KeyboardEvent): Keys[] {
  if (event.defaultPrevented || event.altKey || event.metaKey) return [];
  if (event.ctrlKey) return [`Control+${event.key}`];
  if (
    !singleKeys.value ||
    isTyping(event.composedPath()[0]) ||
    document.querySelector('dialog[open], :popover-open')
  )
    return [];
  const isSecond = first !== undefined && Date.now() - first.atMs < secondKeyMs;
  const alone = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key;
  return [...(isSecond ? [`${first?.key} ${event.key}`] : []), alone];
}

function isTyping(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** The keys that go from tab to tab, from the last to the first as well. */
export function useTabKeys<T>(tabs: readonly T[], current: T, show: (tab: T) => void): void {
  const step = (by: number) => {
    const next = tabs[(tabs.indexOf(current) + by + tabs.length) % tabs.length];
    if (next !== undefined) show(next);
  };
  useKeys({ '[': () => step(-1), ']': () => step(1) });
}

/** Does something on keys while the component is shown. The component that came last takes them. */
export function useKeys(keys: Readonly<Record<Keys, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = Object.keys(keys).join(' | ');
  // Not after the next frame: a key that is pressed until then would do nothing, or what the page before did.
  useLayoutEffect(() => {
    const added = names
      .split(' | ')
      .filter(Boolean)
      .map(name => [name, () => latest.current[name]?.()] as const);
    for (const [name, act] of added) handlers.set(name, [...(handlers.get(name) ?? []), act]);
    return () => {
      for (const [name, act] of added) {
        handlers.set(
          name,
          (handlers.get(name) ?? []).filter(each => each !== act),
        );
      }
    };
  }, [names]);
}
