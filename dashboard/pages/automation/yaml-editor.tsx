import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import { type CompletionSources, completeYaml } from '../../state/yaml-completions.ts';
import { findYamlCursor } from '../../state/yaml-cursor.ts';
import { diagnosticLines, type Fix, showDiagnostics } from './diagnostic-lines.ts';
import { editorTheme, highlightStyle } from './editor-theme.ts';

interface Properties {
  readonly text: string;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: CompletionSources;
  readonly onChange: (text: string) => void;
  /** Ctrl Enter. */
  readonly onReview: () => void;
}

/**
 * An editor of YAML. It lives in a shadow root, whose style sheets are objects: a style element, which the editor would
 * add to the page, is forbidden by the Content-Security-Policy.
 */
export function YamlEditor(properties: Properties) {
  const { text, isReadOnly, diagnostics } = properties;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(properties);
  latest.current = properties;
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const made = new EditorView({ root, parent: root, state: createState(latest) });
    measure(made);
    view.current = made;
    return () => made.destroy();
  }, []);
  useLayoutEffect(() => view.current && replaceText(view.current, text), [text]);
  useLayoutEffect(() => {
    view.current?.dispatch({ effects: showDiagnostics.of(diagnostics) });
    if (view.current) measure(view.current);
  }, [diagnostics]);
  useEffect(() => {
    view.current?.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(isReadOnly)) });
  }, [isReadOnly]);
  return <div class="yaml-editor" ref={host} />;
}

/** Measures the lines before they are painted, so that their numbers do not move afterwards. Asking for a place does so. */
function measure(view: EditorView): void {
  view.coordsAtPos(0);
}

const readOnly = new Compartment();

function createState(latest: { readonly current: Properties }): EditorState {
  const { text, label, isReadOnly } = latest.current;
  return EditorState.create({
    doc: text,
    extensions: [
      ...[
        lineNumbers(),
        highlightActiveLine(),
        highlightSpecialChars(),
        history(),
        closeBrackets(),
        EditorView.lineWrapping,
      ],
      ...[yaml(), syntaxHighlighting(highlightStyle), editorTheme, diagnosticLines(applyFix)],
      readOnly.of(EditorState.readOnly.of(isReadOnly)),
      autocompletion({ override: [context => complete(context, latest.current.sources)], icons: false }),
      keymap.of([
        { key: 'Mod-Enter', run: () => latest.current.onReview() ?? true },
        { key: 'Tab', run: acceptCompletion },
        ...[...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap],
      ]),
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
      EditorView.domEventHandlers({ beforeinput: replaceLines }),
      EditorView.updateListener.of(update => {
        if (update.docChanged) latest.current.onChange(update.state.doc.toString());
      }),
    ],
  });
}

/** Replaces only what differs, so that the cursor and the history stay. */
function replaceText(view: EditorView, text: string): void {
  const old = view.state.doc.toString();
  if (old === text) return;
  const most = Math.min(old.length, text.length);
  let start = 0;
  while (start < most && old[start] === text[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === text.at(-1 - end)) end++;
  const insert = text.slice(start, text.length - end);
  view.dispatch({
    changes: { from: start, to: old.length - end, insert },
    effects: EditorView.scrollIntoView(Math.min(start + insert.length, text.length)),
  });
}

/** Replaces several lines by itself: where a browser joins lines, it adds styles that the policy of the page forbids. */
function replaceLines(event: InputEvent, view: EditorView): boolean {
  const { doc, selection } = view.state;
  const { from, to } = selection.main;
  const isOneLine = doc.lineAt(from).to >= to;
  if (isOneLine || view.composing || !/^(?:insertText|deleteContent)/.test(event.inputType)) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data ?? ''), { userEvent: 'input.type' });
  return true;
}

function applyFix(view: EditorView, { from, to, insert }: Fix): void {
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });
  view.focus();
}

function complete(context: CompletionContext, sources: CompletionSources): CompletionResult | null {
  const text = context.state.doc.toString();
  const cursor = findYamlCursor(text, context.pos);
  if (!context.explicit && cursor.word === '') return null;
  const options = completeYaml(cursor, sources).map(({ label, insert, detail, info }) => ({
    label,
    ...{ ...(detail && { detail }), ...(info && { info }) },
    apply: (view: EditorView, _: unknown, from: number, to: number) => {
      const anchor = from + insert.length;
      view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: 'input.complete' });
      if (/[:-]\s+$/.test(insert)) startCompletion(view);
    },
  }));
  return options.length === 0 ? null : { from: cursor.from, options, validFor: /^["']?[\w$.-]*$/ };
}
