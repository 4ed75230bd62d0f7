import type { DiagnosticCode } from '../../diagnostics.ts';
import type { Fields } from '../clause.ts';
import { escapeGlob, findGlobMistake, splitGlob } from '../glob.ts';

/** A part of a valid filter that probably does not do what its author means. */
export interface FilterWarning {
  readonly code: DiagnosticCode;
  /** The path from the filter to the part. */
  readonly path: readonly (string | number)[];
  /** Whether the warning is about the key at the path, not about its value. */
  readonly atKey: boolean;
  readonly message: string;
  readonly remedy: Remedy;
}

/** A remedy for the mistake. Its filter is shown if it causes no warning itself, and otherwise the hint. */
export interface Remedy {
  readonly write?: Fields | undefined;
  /** The place for the filter, if it does not replace the part. */
  readonly where?: string | undefined;
  readonly hint: string;
}

/**
 * Makes the condition of `$like` or `$not_like` of patterns, or a list of values if none of them has a star. Returns
 * undefined if one of the patterns is missing or invalid.
 */
export function suggestPatterns(operator: '$like' | '$not_like', globs: readonly (string | undefined)[]) {
  const patterns = [...new Set(globs.filter(glob => glob !== undefined && !findGlobMistake(glob)))];
  if (patterns.length === 0 || patterns.length < new Set(globs).size) return undefined;
  const pieces = patterns.map(pattern => splitGlob(pattern ?? ''));
  if (pieces.some(({ length }) => length > 1)) return { [operator]: patterns };
  return operator === '$like' ? pieces.flat() : { not_in: pieces.flat() };
}

// Any characters, an escaped character that is no class, an anchor, another special character, or one that stands for itself.
const parts = /\.[*+]\??|\\[^A-Za-z0-9]|[\^$*+?()[\]{}|\\]|[\s\S]/g;

/**
 * Rewrites a simple regular expression as a pattern of `$like`: `^refs/tags/` as `refs/tags/*`. Returns undefined for one
 * that no pattern can replace. `.+` becomes `*` too, and a dot stands for itself, because that is what it usually means.
 */
export function regexToGlob(regex: string): string | undefined {
  const [, body = regex, flags = ''] = /^\/(.*)\/([a-z]*)$/.exec(regex) ?? [];
  if (flags.includes('i')) return undefined;
  const [, start, inner = '', end] = /^(\^?)([\s\S]*?)((?<!\\)\$)?$/.exec(body) ?? [];
  const globs = [start ? '' : '*', ...(inner.match(parts)?.map(toGlobPart) ?? []), end ? '' : '*'];
  if (globs.includes(undefined)) return undefined;
  return globs.filter((part, index) => part !== '*' || globs[index - 1] !== '*').join('');
}

function toGlobPart(part: string): string | undefined {
  if (/^\.[*+]/.test(part)) return '*';
  if (part.length === 2) return escapeGlob(part.slice(1));
  return /[\^$*+?()[\]{}|\\]/.test(part) ? undefined : part;
}

// White space, and characters without width, at the ends of a text.
const stray = /^[\s\u200b-\u200d\u2060\ufeff]+|[\s\u200b-\u200d\u2060\ufeff]+$/g;

/** Whether a key or value starts or ends with white space or invisible characters. */
export function hasStrayCharacter(text: string): boolean {
  return text !== '' && text.search(stray) >= 0;
}

export function removeStrayCharacters(text: string): string {
  return text.replaceAll(stray, '');
}
