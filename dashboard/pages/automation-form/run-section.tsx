import { useId, useState } from 'preact/hooks';
import { defaultRunner } from '../../../schema/delivery.ts';
import { callApi } from '../../api-client.ts';
import { ApiFailure } from '../../api-failure.ts';
import type { ListedRunner } from '../../api-types.ts';
import { ProblemNotice } from '../../parts/problem-notice.tsx';
import { WithCode } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/loading.ts';
import { findRunMistake, hasRunKeys, type RunDraft, type RunPointer } from '../../state/run-draft.ts';
import { type RunSentence, runSentences } from '../../state/run-sentences.ts';

interface Mistake {
  readonly at: RunPointer;
  readonly text: string;
}

interface Properties {
  readonly runs: RunDraft;
  readonly onChange: (runs: RunDraft) => void;
  /** Why the API refused the fields as they are now. */
  readonly refusal: unknown;
}

/** Edits how runs are executed: sentences with a field for each key, folded while there is no key. */
export function RunSection({ runs, onChange, refusal }: Properties) {
  const { factory } = useFactory();
  const [open, setOpen] = useState(hasRunKeys(runs));
  const { value, error, reload } = useLoad(
    signal => callApi('get', '/factories/{factory}/runners', { factory, signal }),
    [factory],
  );
  const mistakes = runSentences.flatMap(({ blanks }) =>
    blanks.flatMap(({ at }) => findMistakes(at, runs, refusal)),
  );
  return (
    <section class="card padded" aria-label="Runs">
      <details
        open={open || mistakes.length > 0}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>
          <h2>Runs</h2>: who executes them, how often and when
        </summary>
        <div class="stack">
          <p class="hint">
            Leave empty what should not apply. The operator may allow less. A path such as{' '}
            <code>$.issue.id</code> names a field of the payload.
          </p>
          <ProblemNotice error={error} retry={reload} />
          {runSentences.map(sentence => (
            <SentenceFields
              key={sentence.title}
              sentence={sentence}
              runs={runs}
              runners={value?.runners ?? []}
              mistakes={mistakes.filter(({ at }) => sentence.blanks.some(blank => blank.at === at))}
              onInput={(at, text) => onChange({ ...runs, [at]: text })}
            />
          ))}
        </div>
      </details>
    </section>
  );
}

/** Finds what is wrong with a field: what its text shows, or else what the API said of it. */
function findMistakes(at: RunPointer, runs: RunDraft, refusal: unknown): Mistake[] {
  const found = findRunMistake(at, runs[at]);
  if (found !== undefined) return [{ at, text: found }];
  const refused = (refusal instanceof ApiFailure && refusal.problem?.mistakes) || [];
  return refused
    .filter(({ pointer }) => `${pointer}/`.startsWith(`${at}/`))
    .map(({ message, hint }) => ({ at, text: hint === undefined ? message : `${message}: ${hint}` }));
}

interface SentenceProperties extends Omit<Properties, 'refusal' | 'onChange'> {
  readonly sentence: RunSentence;
  readonly runners: readonly ListedRunner[];
  readonly mistakes: readonly Mistake[];
  readonly onInput: (at: RunPointer, text: string) => void;
}

function SentenceFields({ sentence, runs, runners, mistakes, onInput }: SentenceProperties) {
  const id = useId();
  const mistakesId = `${id}-mistakes`;
  return (
    <fieldset class="sentence">
      <legend>{sentence.title}</legend>
      {sentence.blanks.map(({ at, before, after, example }) => {
        const isWrong = mistakes.some(mistake => mistake.at === at);
        const field = {
          value: runs[at],
          'aria-invalid': isWrong,
          id: id + at,
          'aria-describedby': isWrong ? mistakesId : undefined,
          onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
            onInput(at, currentTarget.value),
        };
        return (
          <label key={at} for={field.id}>
            {before}
            {example === undefined ? (
              <select {...field}>
                {listChoices(at, runs, runners).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            ) : (
              <input {...field} placeholder={`e.g. ${example}`} autocomplete="off" spellcheck={false} />
            )}
            {after}{' '}
          </label>
        );
      })}
      <div role="status" id={mistakesId}>
        {mistakes.map(({ at, text }) => (
          <p key={at + text} class="mistake">
            <WithCode text={text} />
          </p>
        ))}
      </div>
    </fieldset>
  );
}

type Choice = readonly [value: string, label: string];

/** Lists what can be chosen, and what the automation has if that can no longer be chosen. */
function listChoices(at: RunPointer, runs: RunDraft, runners: readonly ListedRunner[]): readonly Choice[] {
  const choices = listOffered(at, runs['/runner'] || defaultRunner, runners);
  const chosen = runs[at];
  const isListed = choices.some(([value]) => value === chosen);
  return isListed ? choices : [...choices, [chosen, `${chosen} (not offered)`]];
}

function listOffered(at: RunPointer, runner: string, runners: readonly ListedRunner[]): readonly Choice[] {
  if (at === '/runner') {
    const others = runners.filter(({ name }) => name !== defaultRunner);
    return [
      ['', defaultRunner],
      ...others.map(({ name, automations }) => [name, describeUse(name, automations)] as const),
    ];
  }
  if (at === '/repository') {
    const { repositories = [] } = runners.find(({ name }) => name === runner) ?? {};
    return [['', 'no repository'], ...repositories.map(name => [name, `the repository ${name}`] as const)];
  }
  if (at === '/notify')
    return [
      ['', 'neither failed nor succeeded'],
      ['failed', 'failed'],
      ['succeeded', 'succeeded'],
      ['failed, succeeded', 'failed or succeeded'],
    ];
  return [
    ['', 'the next one starts'],
    ['hold', 'the others wait until it succeeds or is dismissed'],
  ];
}

/** Names a runner, and the automations that may use it unless all may. */
function describeUse(name: string, automations: readonly string[]): string {
  return automations.includes('*') ? name : `${name} (only for ${automations.join(', ')})`;
}
