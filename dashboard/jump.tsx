import { useEffect, useId, useState } from 'preact/hooks';
import { callApi } from './api-client.ts';
import { listPlaces } from './header.tsx';
import { Key } from './parts/controls.tsx';
import { useModal } from './parts/dialog.tsx';
import { Icon } from './parts/icons.tsx';
import { goTo } from './state/current-location.ts';
import {
  findExact,
  findTargets,
  type JumpStock,
  type JumpTarget,
  listFurtherPlaces,
  toIdPart,
} from './state/jump-targets.ts';
import { jumpShown } from './state/keyboard.ts';
import { useLoad } from './state/loading.ts';
import { type PageLocation, parseHref, toHref } from './state/page-location.ts';

interface Properties {
  readonly location: PageLocation;
  readonly factories: readonly string[];
}

/** Finds names, IDs, pages and texts in payloads by the keyboard. A complete ID opens at once. */
export function Jump({ location, factories }: Properties) {
  const { dialog, gone } = useModal();
  const list = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const factory = 'factory' in location ? location.factory : undefined;
  const targets = useTargets(text, factory, factories);
  const chosen = targets[Math.min(at, targets.length - 1)];
  useEffect(() => document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' }), [at]);
  const open = (to: PageLocation) => {
    close();
    goTo(to);
  };
  const type = (typed: string) => {
    const exact = factory === undefined ? undefined : findExact(typed, factory);
    if (exact) return open(exact);
    setText(typed);
    setAt(0);
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step !== undefined)
      setAt((Math.min(at, targets.length - 1) + step + targets.length) % targets.length);
    else if (chosen) open(parseHref(chosen.href));
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it on Escape
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Jump to"
      onClose={() => gone.current || close()}
      onClick={closeOutside}
    >
      <div class="q">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Name, ID, page or text in payloads"
          aria-expanded={targets.length > 0}
          aria-controls={list}
          aria-activedescendant={chosen && `${list}-${targets.indexOf(chosen)}`}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={event => type(event.currentTarget.value)}
          onKeyDown={press}
        />
      </div>
      <Targets id={list} targets={targets} chosen={chosen} onChoose={close} />
      {targets.length === 0 && <p class="grp">Nothing found.</p>}
      <JumpKeys isWithin={factory !== undefined} />
    </dialog>
  );
}

function close(): void {
  jumpShown.value = false;
}

function JumpKeys({ isWithin }: { readonly isWithin: boolean }) {
  return (
    <footer>
      <span>
        <Key>↑</Key> <Key>↓</Key> choose
      </span>
      <span>
        <Key>↵</Key> open
      </span>
      {isWithin && <span class="push no-phone">paste any dlv_, run_, wh_ or alr_ ID</span>}
    </footer>
  );
}

function useTargets(
  text: string,
  factory: string | undefined,
  factories: readonly string[],
): readonly JumpTarget[] {
  const stock = useJumpStock(factory, text);
  const others = factories
    .filter(name => name !== factory && name.includes(text.trim().toLowerCase()))
    .slice(0, text === '' && factory !== undefined ? 0 : 8)
    .map((name): JumpTarget => {
      const href = toHref({ page: 'overview', factory: name });
      return { group: 'Factories', icon: 'overview', label: name, href };
    });
  if (factory === undefined) return others;
  const places = listPlaces(factory).map((place): JumpTarget => ({ ...place, group: 'Go to' }));
  const further = text === '' ? [] : listFurtherPlaces(factory);
  const found = findTargets(
    text,
    factory,
    text === '' ? { ...stock, webhooks: [], automations: [] } : stock,
    [...places, ...further],
  );
  return [...found, ...others];
}

interface TargetsProperties {
  readonly id: string;
  readonly targets: readonly JumpTarget[];
  readonly chosen: JumpTarget | undefined;
  readonly onChoose: () => void;
}

function Targets({ id, targets, chosen, onChoose }: TargetsProperties) {
  return (
    <div id={id} role="listbox" aria-label="Found" class="found">
      {targets.map((target, index) => (
        <>
          {target.group !== targets[index - 1]?.group && (
            <div class="grp" role="presentation">
              {target.group}
            </div>
          )}
          <a
            key={target.href}
            id={`${id}-${index}`}
            role="option"
            aria-selected={target === chosen}
            class={target === chosen ? 'is-hover' : ''}
            tabIndex={-1}
            href={target.href}
            onClick={onChoose}
          >
            <Icon name={target.icon} />
            <bdi class="cut">{target.label}</bdi>
            {target.aside && (
              <span class="t3 small push cut">
                <bdi>{target.aside}</bdi>
              </span>
            )}
            {target.keys && (
              <span class="push flow">
                {target.keys.split(' ').map(key => (
                  <Key key={key}>{key}</Key>
                ))}
              </span>
            )}
          </a>
        </>
      ))}
    </div>
  );
}

/** A click on the backdrop has the dialog itself as its target. */
function closeOutside(event: MouseEvent & { readonly currentTarget: HTMLDialogElement }): void {
  if (event.target === event.currentTarget) close();
}

/** Newest deliveries, and newest runs, among which a part of an ID is found. */
const idsRead = 100;
const noStock: JumpStock = { webhooks: [], automations: [], ids: [] };

/** Reads what a factory has. The IDs of deliveries and runs only once something that may be a part of one is typed. */
function useJumpStock(factory: string | undefined, sought: string): JumpStock {
  const isId = toIdPart(sought) !== undefined;
  const names = useLoad(
    async signal => {
      if (factory === undefined) return undefined;
      const [{ webhooks }, { automations }] = await Promise.all([
        callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
        callApi('get', '/factories/{factory}/automations', { factory, signal }),
      ]);
      return { webhooks, automations };
    },
    [factory],
  ).value;
  const ids = useLoad(
    async signal => {
      if (factory === undefined || !isId) return undefined;
      const query = { limit: idsRead };
      const [{ deliveries }, { runs }] = await Promise.all([
        callApi('get', '/factories/{factory}/deliveries', { factory, query, signal }),
        callApi('get', '/factories/{factory}/runs', { factory, query, signal }),
      ]);
      return [...deliveries, ...runs].map(({ id }) => id);
    },
    [factory, isId],
  ).value;
  return { ...noStock, ...names, ids: ids ?? [] };
}
