import { isShowableName, isShowableValue } from '../payloads/observed-paths.ts';

/** @limit Scalars of a payload that a list shows of a sender without a rule of its own. */
const scalarsShownMax = 3;
/** @limit Most values of a payload among which they are sought, those outside first: some µs. */
const valuesMax = 300;

/**
 * Lists the first short texts and numbers of a payload that may be shown, but those given, and those outside first. URLs are left out, and also
 * IDs, hashes and times if there is anything else.
 */
export function listShortScalars(payload: unknown, but: readonly string[]): readonly string[] {
  const clear = new Set<string>();
  const others = new Set<string>();
  const containers = typeof payload === 'object' ? [payload] : [];
  let left = valuesMax;
  for (let at = 0; at < containers.length && clear.size < scalarsShownMax && left > 0; at++) {
    for (const [key, value] of Object.entries(containers[at] ?? {})) {
      if (left-- <= 0) break;
      if (!isShowableName(key)) continue;
      if (typeof value === 'object') containers.push(value);
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const text = String(value).trim();
      if (text === '' || but.includes(text) || !isShowableValue(text) || /^\w+:\/\//.test(text)) continue;
      (isIdentity(value, text) ? others : clear).add(text);
    }
  }
  return [...(clear.size > 0 ? clear : others)].slice(0, scalarsShownMax);
}

/** Whether a value tells people little: a UUID, a long ID or number, a hash, or a time. */
function isIdentity(value: string | number, text: string): boolean {
  if (typeof value === 'number') return text.length > 8;
  if (/^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text) || /^[\da-f]{8}-[\da-f]{4}-/i.test(text)) return true;
  return !text.includes(' ') && text.length > 8 && /\d{6,}|^[a-z]+_\w*\d/i.test(text);
}
