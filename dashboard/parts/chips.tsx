import { useState } from 'preact/hooks';
import { usePopup } from '../state/use-popup.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';

/** From how many options on a list has a search. */
const searchedOptions = 8;

export interface ChipOption {
  readonly value: string;
  readonly label: string;
  /** Follows the label, less prominent. */
  readonly hint?: string | undefined;
}

interface ChoiceProperties {
  /** What is chosen: `Webhook`. */
  readonly label: string;
  /** Empty: nothing is chosen, and everything is shown. */
  readonly value: string;
  readonly options: readonly ChipOption[];
  /** Gets the empty text if the user drops the choice. */
  readonly onChoose: (value: string) => void;
  /** Whether the user may type a value that is no option. */
  readonly isOpen?: boolean;
  /** The entry that drops the choice: `All webhooks`. Without it, there is always a choice. */
  readonly none?: string;
}

interface ToggleProperties {
  readonly label: string;
  readonly on: boolean;
  readonly onToggle: (on: boolean) => void;
  /** `60`, or `200+` if there are more. */
  readonly count?: number | string | undefined;
  readonly tone?: 'bad' | 'warn' | '';
}

/** A filter of a list with several values. Chosen, it shows the value in place of its name. */
export function ChoiceChip({ label, value, options, onChoose, isOpen = false, none }: ChoiceProperties) {
  const { open, close, button, popup } = usePopup();
  const [sought, setSought] = useState('');
  const chosen = options.find(option => option.value === value);
  const text = chosen?.label ?? (value === '' ? label : value);
  const choose = (next: string) => {
    close();
    setSought('');
    if (next !== value) onChoose(next);
  };
  const found = options.filter(option => option.label.toLowerCase().includes(sought.toLowerCase()));
  const all = none === undefined || sought !== '' ? found : [{ value: '', label: none }, ...found];
  return (
    <>
      <button
        type="button"
        class={`chip ${value === '' || none === undefined ? '' : 'on'}`}
        aria-haspopup="listbox"
        aria-label={text === label ? label : `${label}: ${text}`}
        {...button}
      >
        <bdi>{text}</bdi>
        <Icon name="down" />
      </button>
      {open && (
        <div class="menu" {...popup}>
          {(isOpen || options.length >= searchedOptions) && (
            <input
              class="input"
              aria-label={`Find: ${label}`}
              placeholder={isOpen ? 'Type a value' : 'Find'}
              value={sought}
              onInput={event => setSought(event.currentTarget.value)}
              onKeyDown={event => {
                if (event.key !== 'Enter' || sought === '') return;
                const best = found.find(option => option.label === sought) ?? (isOpen ? undefined : found[0]);
                if (best || isOpen) choose(best?.value ?? sought);
              }}
            />
          )}
          <Options label={label} options={all} value={value} onChoose={choose} />
          {all.length === 0 && (
            <p class="lead">{isOpen ? 'Enter takes what you typed.' : 'Nothing found.'}</p>
          )}
        </div>
      )}
    </>
  );
}

type OptionsProperties = Pick<ChoiceProperties, 'label' | 'options' | 'value' | 'onChoose'>;

export function Options({ label, options, value, onChoose }: OptionsProperties) {
  if (options.length === 0) return null;
  return (
    <div role="listbox" aria-label={label} class="menu-entries">
      {options.map(option => (
        <button
          key={option.value}
          type="button"
          role="option"
          tabIndex={-1}
          data-item
          aria-selected={option.value === value}
          onClick={() => onChoose(option.value)}
        >
          <Text text={option.label} />
          {option.hint !== undefined && <Text class="push t3 cut" text={option.hint} />}
        </button>
      ))}
    </div>
  );
}

/** A filter of a list that is on or off, with the number of rows that it would leave. */
export function ToggleChip({ label, on, onToggle, count, tone = '' }: ToggleProperties) {
  return (
    <button type="button" class={`chip ${on ? 'on' : ''}`} aria-pressed={on} onClick={() => onToggle(!on)}>
      {label}{' '}
      {count !== undefined && <b class={Number(count) === 0 ? '' : tone}>{count.toLocaleString('en')}</b>}
    </button>
  );
}
