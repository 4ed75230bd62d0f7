import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The colours of code, as everywhere in the dashboard. */
export const highlightStyle = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syn-key)' },
  { tag: [tags.string, tags.content], color: 'var(--syn-text)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--syn-note)' },
]);

/** The style of the editor. Custom properties come from the page into its shadow root, rules do not. */
export const editorTheme = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: 'var(--s-2) 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 var(--s-3) 0 var(--s-2)' },
  '.cm-gutters': { background: 'none', color: 'var(--text-3)', border: '0', fontSize: '11px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.25rem', padding: '0 4px 0 0' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--bg-selected)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-mistake': {
    textDecoration: 'underline wavy var(--bad-mark) 1px',
    textUnderlineOffset: '3px',
  },
  '.cm-mistake.warning': { textDecorationColor: 'var(--warn-mark)' },
  '.cm-said': {
    display: 'flex',
    gap: 'var(--s-2)',
    flexWrap: 'wrap',
    alignItems: 'baseline',
    margin: '1px var(--s-3) 3px var(--s-2)',
    padding: '3px 8px',
    borderRadius: 'var(--r-1)',
    background: 'var(--bad-soft)',
    color: 'var(--bad)',
    fontFamily: 'var(--sans)',
  },
  '.cm-said.warning': { background: 'var(--warn-soft)', color: 'var(--warn)' },
  '.cm-said button': {
    border: '0',
    background: 'none',
    padding: '0',
    font: '500 12px var(--sans)',
    color: 'var(--accent)',
    cursor: 'pointer',
  },
  '.cm-tooltip': {
    border: '0',
    borderRadius: 'var(--r-3)',
    background: 'var(--bg-raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow-pop)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    maxHeight: '16rem',
    padding: '4px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px', borderRadius: 'var(--r-1)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--bg-selected)',
    color: 'var(--text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionDetail': { color: 'var(--text-3)', fontStyle: 'normal', marginLeft: '1.5em' },
  '.cm-completionInfo': { padding: '8px 10px', maxWidth: '20rem', fontFamily: 'var(--sans)' },
});
