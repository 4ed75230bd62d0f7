import { isMap, isScalar, isSeq, type Scalar } from 'yaml';
import { isExact } from '../filters/operand-mistakes.ts';

type Path = readonly PropertyKey[];

/** @limit Texts that YAML changed that are found in one file: the first ones show what is wrong with all. */
const changedTextsMax = 50;

/** A text without quotes that YAML reads as something else than it says. */
export interface ChangedText {
  readonly path: Path;
  /** All of the text, as it would be in quotes. */
  readonly written: string;
  /** A part of it is lost. Otherwise, its value has another form. */
  readonly isCut: boolean;
  /** The offsets of the part that is lost or changed. */
  readonly span: readonly [start: number, end: number];
  readonly message: string;
  readonly hint: string;
}

/**
 * Finds texts that YAML cuts at a ` #`, and numbers, booleans and nulls that are not written as JSON writes them. A comment
 * with a blank after its `#`, or with several before, is meant as one.
 */
export function findChangedTexts(contents: unknown, text: string): readonly ChangedText[] {
  const found: ChangedText[] = [];
  const path: PropertyKey[] = [];
  const walkBelow = (step: PropertyKey, node: unknown) => {
    path.push(step);
    walk(node);
    path.pop();
  };
  const walk = (node: unknown) => {
    if (found.length >= changedTextsMax) return;
    if (isMap(node)) for (const { key, value } of node.items) walkBelow((key as Scalar<string>).value, value);
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) walkBelow(index, item);
    else if (isScalar(node) && node.type === 'PLAIN' && node.range) {
      const [start, end] = node.range;
      const change = findCut(text, start, end) ?? findOtherForm(node.value, text.slice(start, end), start);
      if (change) found.push({ path: [...path], ...change });
    }
  };
  walk(contents);
  return found;
}

type Change = Omit<ChangedText, 'path'>;

const comment = /#[^\s#].*/y;

function findCut(text: string, start: number, end: number): Change | undefined {
  // The place of an empty value is where the comment begins, or right after the colon or hyphen.
  const at = text.charAt(end) === ' ' ? end + 1 : end;
  comment.lastIndex = at;
  const [lost] = comment.exec(text) ?? [];
  if (lost === undefined) return undefined;
  return {
    written: `${text.slice(start, end)} ${lost}`.trim(),
    isCut: true,
    span: [at, at + lost.length],
    message: `YAML leaves out ${JSON.stringify(lost)}, because a # after a blank starts a comment`,
    hint: 'put the whole text in quotes; if this is a comment, write a blank after the #',
  };
}

function findOtherForm(value: unknown, written: string, start: number): Change | undefined {
  if (typeof value === 'string' || written === '' || written === String(value)) return undefined;
  if (typeof value === 'number' && !isExact(value)) return undefined;
  return {
    written,
    isCut: false,
    span: [start, start + written.length],
    message: `YAML reads ${written} as ${value}`,
    hint: `write ${JSON.stringify(written)} to match the text, or ${value} without quotes`,
  };
}
