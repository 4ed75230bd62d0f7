import { escapeGlob, findGlobMistake, splitGlob } from '../glob.ts';

/**
 * Makes the condition of `like` or `not_like` of patterns, or a list of values if none of them has a star. Returns
 * undefined if one of the patterns is missing or invalid.
 */
export function suggestPatterns(operator: 'like' | 'not_like', globs: readonly (string | undefined)[]) {
  const patterns = [...new Set(globs.filter(glob => glob !== undefined && !findGlobMistake(glob)))];
  if (patterns.length === 0 || patterns.length < new Set(globs).size) return undefined;
  const pieces = patterns.map(pattern => splitGlob(pattern ?? ''));
  if (pieces.some(({ length }) => length > 1)) return { [operator]: patterns };
  return operator === 'like' ? pieces.flat() : { not_in: pieces.flat() };
}

// Any characters, an escaped character that is no class, an anchor, another special character, or one that stands for itself.
const parts = /\.[*+]\??|\\[^A-Za-z0-9]|[\^$*+?()[\]{}|\\]|[\s\S]/g;

/**
 * Rewrites a simple regular expression as a pattern of `like`: `^refs/tags/` as `refs/tags/*`. Returns undefined for one
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
