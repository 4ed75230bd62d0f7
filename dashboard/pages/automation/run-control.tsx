import type { ListedRunner } from '../../api-answers.ts';
import { Text } from '../../parts/text.tsx';
import { parseRunText, pathOfRunKey, type RunDraft } from '../../state/run-draft.ts';
import { type RunSlot, runSentences } from '../../state/run-sentences.ts';
import type { AutomationText } from '../../state/use-automation-text.ts';
import type { SentField } from '../../state/yaml-completions.ts';
import { listSlotOptions, SlotField } from './slot-field.tsx';

interface Properties {
  readonly document: AutomationText;
  readonly runners: readonly ListedRunner[];
  readonly fields: readonly SentField[];
  readonly isReadOnly: boolean;
}

/** How runs are executed, as sentences. A slot in a sentence edits its key in the text, and back. */
export function RunControlSection({ document, runners, fields, isReadOnly }: Properties) {
  const { edit } = document;
  const { runs } = document.draft;
  return (
    <section aria-label="Run control">
      <h2>Run control</h2>
      {!runs && <p class="hint">The sentences come back once the YAML can be read.</p>}
      {runs &&
        runSentences.map(slots => (
          <p key={slots[0]?.at} class="sentence">
            {slots
              .filter(slot => isShown(slot, runs))
              .map(slot => {
                const value = runs[slot.at];
                const [before, said, after = ''] = value === '' ? slot.unset : slot.set(value);
                return (
                  <span key={slot.at}>
                    {before}
                    {isReadOnly ? (
                      <b class={value === '' ? 't3' : 'med'}>
                        <Text text={said} />
                      </b>
                    ) : (
                      <SlotField
                        slot={slot}
                        said={said}
                        value={value}
                        options={listSlotOptions(slot.at, { runs, runners, fields })}
                        onSet={text =>
                          edit(pathOfRunKey(slot.at), text === '' ? undefined : parseRunText(slot.at, text))
                        }
                      />
                    )}
                    {after}
                  </span>
                );
              })}
            .
          </p>
        ))}
    </section>
  );
}

/** A key that has no effect without another one is shown beside that, or if it is written. */
function isShown({ at, needs }: RunSlot, runs: RunDraft): boolean {
  return needs === undefined || runs[needs] !== '' || runs[at] !== '';
}
