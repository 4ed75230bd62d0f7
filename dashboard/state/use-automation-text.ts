import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { compareLines } from '../../schema/changes/show-change.ts';
import { type AutomationDraft, readAutomationDraft } from './automation-draft.ts';
import { removeFromYaml, setInYaml, type YamlPath } from './yaml-text.ts';

export interface AutomationText {
  readonly text: string;
  readonly draft: AutomationDraft;
  /** The last draft without errors; undefined if there was none. */
  readonly valid: AutomationDraft | undefined;
  /** In how many places the text differs from what is applied. */
  readonly changes: number;
  readonly setText: (text: string) => void;
  /** Sets a value in the text, and leaves everything else as it is; undefined removes it. */
  readonly edit: (path: YamlPath, value: unknown) => void;
  readonly discard: () => void;
  /** Takes the text as what is applied. */
  readonly keep: () => void;
}

/** The text of an automation while it is edited: the one document that the editor, the sentences and the test share. */
export function useAutomationText(name: string, applied: string): AutomationText {
  const [{ base, text }, setState] = useState({ base: applied, text: applied });
  const latest = useRef(text);
  latest.current = text;
  const setText = useCallback((next: string) => setState(known => ({ ...known, text: next })), []);
  useEffect(() => {
    // What is applied comes back without comments, so a text that says the same stays.
    setState(known =>
      known.text !== known.base || saysSame(known.base, applied) ? known : { base: applied, text: applied },
    );
  }, [applied]);
  const draft = useMemo(() => readAutomationDraft(name, text), [name, text]);
  const valid = useRef<AutomationDraft>(undefined);
  if (draft.body) valid.current = draft;
  const edit = useCallback(
    (path: YamlPath, value: unknown) => {
      const { current } = latest;
      setText(
        (value === undefined ? removeFromYaml(current, path) : setInYaml(current, path, value)) ?? current,
      );
    },
    [setText],
  );
  return {
    ...{ text, draft, setText, edit, valid: valid.current },
    changes: useMemo(() => countChanges(base, text), [base, text]),
    discard: () => setText(base),
    keep: () => setState({ base: text, text }),
  };
}

function saysSame(text: string, other: string): boolean {
  const [one, two] = [text, other].map(each => readAutomationDraft('same', each).body);
  return one !== undefined && JSON.stringify(one) === JSON.stringify(two);
}

/** Counts the places in which two texts differ. */
function countChanges(before: string, after: string): number {
  if (before === after) return 0;
  const marks = compareLines(before.split('\n'), after.split('\n')).map(({ mark }) => mark !== ' ');
  return marks.filter((isChanged, index) => isChanged && !marks[index - 1]).length;
}
