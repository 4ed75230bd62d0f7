import type { ComponentChildren, ComponentProps } from 'preact';
import { type PageLocation, toHref } from '../state/page-location.ts';
import { Icon, type IconName } from './icons.tsx';

interface Look {
  readonly label?: ComponentChildren;
  /** `primary`, `quiet`, `danger`, `small` or `icon`, or several of them. */
  readonly look?: string;
  readonly icon?: IconName;
}

type ButtonProperties = Look & Omit<ComponentProps<'button'>, 'label' | 'icon'>;
interface LinkProperties extends Look, Pick<ComponentProps<'a'>, 'target' | 'rel' | 'aria-label'> {
  readonly to?: PageLocation;
  readonly href?: string | undefined;
}

interface SegmentsProperties<T extends string> {
  /** What they choose, for screen readers. */
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, label: ComponentChildren])[];
  readonly onChange: (value: T) => void;
  readonly class?: string;
}

interface TabsProperties {
  readonly label: string;
  readonly tabs: readonly {
    readonly label: string;
    readonly href: string;
    readonly current: boolean;
    readonly count?: number | undefined;
  }[];
}

interface FinderProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly onEnter?: () => void;
  /** What stands at the right, within the field. */
  readonly aside?: ComponentChildren;
}

export function Button({ label, look = '', icon, ...attributes }: ButtonProperties) {
  return (
    <button type="button" {...attributes} class={`btn ${look}`}>
      {icon && <Icon name={icon} />}
      {label}
    </button>
  );
}

/** A link that looks like a button. */
export function LinkButton({ label, look = '', icon, to, href, ...attributes }: LinkProperties) {
  return (
    <a {...attributes} href={to ? toHref(to) : href} class={`btn ${look}`}>
      {icon && <Icon name={icon} />}
      {label}
    </a>
  );
}

/** Exclusive views of the same thing, two to four. */
export function Segments<T extends string>(properties: SegmentsProperties<T>) {
  const { label, value, options, onChange, class: className = '' } = properties;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a border and a legend
    <span class={`seg ${className}`} role="group" aria-label={label}>
      {options.map(([each, text]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {text}
        </button>
      ))}
    </span>
  );
}

/** Parts of a page that have addresses of their own. */
export function Tabs({ label, tabs }: TabsProperties) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ label, href, current, count }) => (
        <a key={label} href={href} aria-current={current ? 'page' : undefined}>
          {label}
          {count !== undefined && <span class="n">{count.toLocaleString('en')}</span>}
        </a>
      ))}
    </nav>
  );
}

/** A field that searches what is below it. */
export function Finder({ label, value, onInput, onEnter, aside }: FinderProperties) {
  return (
    <span class="finder">
      <Icon name="search" />
      <input
        class="input find"
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        spellcheck={false}
        autocomplete="off"
        onInput={event => onInput(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || !onEnter) return;
          event.preventDefault();
          onEnter();
        }}
      />
      {aside !== undefined && aside !== false && <span class="finder-aside t3 small">{aside}</span>}
    </span>
  );
}

/** A key of the keyboard. */
export function Key({ children }: { readonly children: string }) {
  return <kbd>{children}</kbd>;
}
