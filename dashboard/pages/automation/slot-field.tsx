import { useId, useState } from 'preact/hooks';
import { renderFlowValue } from '../../../schema/changes/block-lines.ts';
import { defaultRunner } from '../../../schema/delivery.ts';
import type { ListedRunner } from '../../api-answers.ts';
import { type ChipOption, Options } from '../../parts/chips.tsx';
import { Button } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Text, WithCode } from '../../parts/text.tsx';
import { findRunMistake, isPathKey, type RunDraft, type RunPointer } from '../../state/run-draft.ts';
import type { RunSlot } from '../../state/run-sentences.ts';
import { usePopup } from '../../state/use-popup.ts';
import type { SentField } from '../../state/yaml-completions.ts';

interface Properties {
  readonly slot: RunSlot;
  /** What the sentence says in the slot. */
  readonly said: string;
  /** The text of the key; `''` without one. */
  readonly value: string;
  readonly options: readonly ChipOption[];
  /** Gets `''` to remove the key. */
  readonly onSet: (text: string) => void;
}

/** Most options that are shown at a time: further ones are found by typing. */
const optionsShown = 12;

/** A field in a sentence: a button that says the value, and opens where it is typed or chosen. */
export function SlotField({ slot, said, value, options, onSet }: Properties) {
  const { open, close, button, popup } = usePopup();
  const set = (text: string) => {
    close();
    if (text !== value) onSet(text);
  };
  const { label, at } = slot;
  return (
    <>
      <button
        type="button"
        class={`slot ${value === '' ? 'unset' : ''} ${isPathKey(at) && value !== '' ? 'mono' : ''}`}
        aria-label={`${label}: ${said}`}
        aria-haspopup="dialog"
        {...button}
      >
        <Text text={said} />
        {slot.example === undefined && value !== '' && <Icon name="down" />}
      </button>
      {open && (
        <div class="menu" role="dialog" aria-label={label} {...popup}>
          {slot.example === undefined ? (
            <Options label="Choices" options={options} value={value} onChoose={set} />
          ) : (
            <Typed slot={slot} example={slot.example} value={value} options={options} onSet={set} />
          )}
          {value !== '' && (
            <div class="menu-entries">
              <hr />
              <button type="button" data-item onClick={() => set('')}>
                Leave it out
              </button>
            </div>
          )}
        </div>
      )}
    </>
  );
}

function Typed({
  slot,
  example,
  value,
  options,
  onSet,
}: Omit<Properties, 'said'> & { readonly example: string }) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [isTried, setTried] = useState(false);
  const mistake = findRunMistake(slot.at, typed);
  const sought = typed === value ? '' : typed.toLowerCase();
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (mistake === undefined) onSet(typed.trim());
  };
  return (
    <form class="slot-form" novalidate onSubmit={submit}>
      <span class="flow">
        <input
          class="input"
          aria-label={slot.label}
          aria-describedby={id}
          aria-invalid={isTried && mistake !== undefined}
          placeholder={`e.g. ${example}`}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
        <Button label="Set" type="submit" />
      </span>
      <p id={id} role="status" class="hint bad">
        {isTried && mistake !== undefined && <WithCode text={mistake} />}
      </p>
      <Options
        label="Choices"
        options={options.filter(option => option.label.toLowerCase().includes(sought)).slice(0, optionsShown)}
        value={value}
        onChoose={onSet}
      />
    </form>
  );
}

interface Given {
  readonly runs: RunDraft;
  readonly runners: readonly ListedRunner[];
  readonly fields: readonly SentField[];
}

/** Lists what can be chosen, or else what is often written. */
export function listSlotOptions(at: RunPointer, { runs, runners, fields }: Given): readonly ChipOption[] {
  if (isPathKey(at)) return listPathOptions(fields);
  switch (at) {
    case '/runner':
      return runners
        .filter(({ name }) => name !== defaultRunner)
        .map(({ name, automations }) => ({ value: name, label: name, hint: describeUse(automations) }));
    case '/repository': {
      const used = runs['/runner'] || defaultRunner;
      const { repositories = [] } = runners.find(({ name }) => name === used) ?? {};
      return repositories.map(name => ({ value: name, label: name }));
    }
    case '/notify':
      return [
        { value: 'failed', label: 'Runs that have failed' },
        { value: 'succeeded', label: 'Runs that have succeeded' },
        { value: 'failed, succeeded', label: 'All runs' },
      ];
    case '/onFailure':
      return [
        { value: 'continue', label: 'The next one starts' },
        { value: 'hold', label: 'The others wait until it succeeds or is dismissed' },
      ];
    case '/onlyLatest':
      return [
        { value: 'true', label: 'Cancels those that wait' },
        { value: 'false', label: 'Waits its turn' },
      ];
    case '/cancelRunning':
      return [
        { value: 'true', label: 'Is cancelled too' },
        { value: 'false', label: 'Ends first' },
      ];
    default:
      return [];
  }
}

/** The fields with one value, which have an identity of their own. */
function listPathOptions(fields: readonly SentField[]): readonly ChipOption[] {
  return fields
    .filter(({ keys, examples }) => !keys.includes(null) && examples.length > 0)
    .map(({ path, examples }) => ({
      ...{ value: path, label: path },
      hint: examples.slice(0, 2).map(renderFlowValue).join(', '),
    }));
}

/** Names the automations that may use a runner, unless all may. */
function describeUse(automations: readonly string[]): string | undefined {
  return automations.includes('*') ? undefined : `only for ${automations.join(', ')}`;
}
