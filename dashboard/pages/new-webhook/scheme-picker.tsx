import { useEffect, useRef, useState } from 'preact/hooks';
import { matchesWords } from '../../../schema/clients/describe.ts';
import type { ListedScheme } from '../../api-types.ts';
import { Field } from '../../parts/fields.tsx';

interface Properties {
  readonly schemes: readonly ListedScheme[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

/** Finds a provider as the user types: a combobox by the ARIA practices (w3.org/WAI/ARIA/apg/patterns/combobox). */
export function SchemePicker(properties: Properties) {
  const { typed, open, found, current, search, select, setOpen, press } = useCombobox(properties);
  return (
    <div>
      <Field label="Provider" hint={`${properties.schemes.length} signature schemes. Type to search.`}>
        {ids => (
          <div class="combobox">
            <input
              {...ids}
              role="combobox"
              aria-expanded={open}
              aria-controls="schemes"
              aria-autocomplete="list"
              aria-activedescendant={open && current ? `scheme-${current.id}` : undefined}
              autocomplete="off"
              spellcheck={false}
              placeholder="GitHub, Stripe, Standard Webhooks…"
              value={typed}
              onInput={event => search(event.currentTarget.value)}
              onClick={() => setOpen(true)}
              onBlur={() => setOpen(false)}
              onKeyDown={press}
            />
            <SchemeOptions schemes={found} current={current} open={open} onSelect={select} />
          </div>
        )}
      </Field>
      <p class="hint" role="status">
        {open &&
          found.length === 0 &&
          'No provider with that name. A definition file can describe any other HMAC scheme.'}
      </p>
    </div>
  );
}

function useCombobox({ schemes, selected, onSelect }: Properties) {
  const chosen = schemes.find(({ id }) => id === selected);
  const [typed, setTyped] = useState(chosen?.provider ?? '');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const found = chosen?.provider === typed ? schemes : schemes.filter(scheme => matches(scheme, typed));
  const current = found[Math.min(active, found.length - 1)];

  const search = (text: string) => {
    setTyped(text);
    setOpen(true);
    setActive(0);
    onSelect(undefined);
  };
  const select = (scheme: ListedScheme) => {
    setTyped(scheme.provider);
    setOpen(false);
    onSelect(scheme.id);
  };
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && found.length > 0) {
      setOpen(true);
      setActive(open ? (active + step + found.length) % found.length : active);
    } else if (event.key === 'Enter' && open && current) select(current);
    else if (event.key === 'Escape' && open) setOpen(false);
    else return;
    event.preventDefault();
  };
  return { typed, open, found, current, search, select, setOpen, press };
}

interface OptionsProperties {
  readonly schemes: readonly ListedScheme[];
  readonly current: ListedScheme | undefined;
  readonly open: boolean;
  readonly onSelect: (scheme: ListedScheme) => void;
}

function SchemeOptions({ schemes, current, open, onSelect }: OptionsProperties) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });
  return (
    <div id="schemes" role="listbox" aria-label="Providers" class="listbox" ref={list} hidden={!open}>
      {schemes.map(scheme => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
        <div
          key={scheme.id}
          id={`scheme-${scheme.id}`}
          role="option"
          aria-selected={scheme === current}
          onMouseDown={event => event.preventDefault()}
          onClick={() => onSelect(scheme)}
        >
          {scheme.provider} <span class="t3">{scheme.kind}</span>
        </div>
      ))}
    </div>
  );
}

function matches({ id, provider, kind }: ListedScheme, typed: string): boolean {
  return matchesWords(`${id} ${provider} ${kind}`, typed);
}
