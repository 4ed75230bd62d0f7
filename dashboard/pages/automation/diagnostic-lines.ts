import { type EditorState, type Range, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import { renderFlowValue } from '../../../schema/changes/block-lines.ts';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import { findYamlCursor } from '../../state/yaml-cursor.ts';
import { escapeInvisible } from '../../text/format-values.ts';

/** A change of the text that mends a mistake. */
export interface Fix {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Replaces the diagnostics that are shown. */
export const showDiagnostics = StateEffect.define<readonly Diagnostic[]>();

type Apply = (view: EditorView, fix: Fix) => void;

/** Underlines what diagnostics are about, and says under its line what is wrong, with a button if that can be mended. */
export function diagnosticLines(apply: Apply) {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update: (shown, { effects, changes, state }) => {
      const found = effects.find(effect => effect.is(showDiagnostics));
      return found ? decorate(state, found.value, apply) : shown.map(changes);
    },
    provide: field => EditorView.decorations.from(field),
  });
}

function decorate({ doc }: EditorState, diagnostics: readonly Diagnostic[], apply: Apply): DecorationSet {
  const decorations = diagnostics.flatMap((diagnostic): Range<Decoration>[] => {
    const { from, to } = locate(doc, diagnostic);
    const said = new Said(diagnostic, findFix(doc, diagnostic, from, to), apply);
    const line = doc.lineAt(Math.max(from, Math.min(to, doc.lineAt(from).to)));
    const below = Decoration.widget({ widget: said, block: true, side: 1 }).range(line.to);
    const mark = Decoration.mark({ class: `cm-mistake ${diagnostic.severity}` });
    return from < to ? [mark.range(from, to), below] : [below];
  });
  return Decoration.set(decorations, true);
}

function locate(doc: Text, { range }: Diagnostic): { readonly from: number; readonly to: number } {
  if (!range) return { from: 0, to: 0 };
  const find = ({ line, column }: { readonly line: number; readonly column: number }) => {
    if (line > doc.lines) return doc.length;
    const found = doc.line(line);
    return Math.min(found.from + column - 1, found.to);
  };
  const from = find(range.start);
  return { from, to: Math.max(from, find(range.end)) };
}

/** Puts a bare value of a filter into a list. */
function findFix(doc: Text, { code }: Diagnostic, from: number, to: number): Fix | undefined {
  const text = doc.sliceString(from, to);
  const { path, at, isListed } = findYamlCursor(doc.toString(), from);
  const isBare = at === 'value' && !isListed && path.at(-2) !== 'compare' && /^[^\n[{]+$/.test(text);
  if (code !== 'filter/invalid' || !isBare) return undefined;
  const insert = `[${text.trim()}]`;
  return { label: `Write ${insert}`, from, to, insert };
}

/** What is said of a mistake, under its line. */
class Said extends WidgetType {
  private readonly diagnostic: Diagnostic;
  private readonly fix: Fix | undefined;
  private readonly apply: Apply;

  constructor(diagnostic: Diagnostic, fix: Fix | undefined, apply: Apply) {
    super();
    this.diagnostic = diagnostic;
    this.fix = fix;
    this.apply = apply;
  }

  override eq(other: Said): boolean {
    const told = ({ diagnostic, fix }: Said) =>
      renderFlowValue([diagnostic.message, fix?.from ?? null, fix?.insert ?? null]);
    return told(this) === told(other);
  }

  toDOM(view: EditorView): HTMLElement {
    const { severity, message, hint } = this.diagnostic;
    const { fix } = this;
    const said = document.createElement('div');
    said.className = `cm-said ${severity}`;
    said.textContent = escapeInvisible(hint === undefined || fix ? message : `${message}: ${hint}`);
    if (!fix) return said;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = escapeInvisible(fix.label);
    button.addEventListener('click', () => this.apply(view, fix));
    said.append(' ', button);
    return said;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}
