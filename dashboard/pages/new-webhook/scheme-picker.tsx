import { useEffect, useRef, useState } from 'preact/hooks';
import type { Scheme } from '../../api-types.ts';
import { Field } from '../../parts/field.tsx';

interface Properties {
  readonly schemes: readonly Scheme[];
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

/** Finds a provider by typing: a combobox as the ARIA practices have it (w3.org/WAI/ARIA/apg/patterns/combobox). */
export function SchemePicker({ schemes, selected, onSelect }: Properties) {
  const chosen = schemes.find(({ id }) => id === selected);
  const [typed, setTyped] = useState(chosen?.provider ?? '');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const found = chosen?.provider === typed ? schemes : schemes.filter(scheme => matches(scheme, typed));
  const current = found[Math.min(active, found.length - 1)];
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });

  const search = (text: string) => {
    setTyped(text);
    setOpen(true);
    setActive(0);
    onSelect(undefined);
  };
  const select = (scheme: Scheme) => {
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
  return (
    <div>
      <Field label="Provider" hint={`${schemes.length} signature schemes. Type to search.`}>
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
            <div id="schemes" role="listbox" aria-label="Providers" class="listbox" ref={list} hidden={!open}>
              {found.map(scheme => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the combobox
                // biome-ignore lint/a11y/useFocusableInteractive: so does the focus
                <div
                  key={scheme.id}
                  id={`scheme-${scheme.id}`}
                  role="option"
                  aria-selected={scheme === current}
                  onMouseDown={event => event.preventDefault()}
                  onClick={() => select(scheme)}
                >
                  {scheme.provider} <span class="muted">{scheme.kind}</span>
                </div>
              ))}
            </div>
          </div>
        )}
      </Field>
      <p class="hint" role="status">
        {open &&
          found.length === 0 &&
          'No provider of that name. Another HMAC can be described in a definition file.'}
      </p>
    </div>
  );
}

function matches({ id, provider, kind }: Scheme, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/);
  const text = `${id} ${provider} ${kind}`.toLowerCase();
  return words.every(word => text.includes(word));
}
