import type { EventHeaders } from '../headers.ts';
import { isShowableName, isShowableValue } from '../text/credentials.ts';
import { isShowableKey } from './observed-paths.ts';

/** @limit Deepest level of a payload that a redacted copy keeps: payload filters nest no deeper than 16. */
const keptLevelsMax = 32;

/** Replaces a value that is left out. */
const leftOut = '(left out)';

/**
 * Copies a payload without everything below names like `token` or `password`, with its texts as `showText` shows them: by
 * default, without what `payloads describe` would not show, which are long texts and values that look like credentials.
 */
export function redactPayload(payload: unknown, showText = showExample, level = 0): unknown {
  if (level > keptLevelsMax) return leftOut;
  if (Array.isArray(payload)) return payload.map(element => redactPayload(element, showText, level + 1));
  if (typeof payload === 'object' && payload !== null) {
    const entries = Object.entries(payload).filter(([key]) => isShowableKey(key));
    return Object.fromEntries(
      entries.map(([key, value]) => [
        key,
        isShowableName(key) || value === null ? redactPayload(value, showText, level + 1) : leftOut,
      ]),
    );
  }
  return typeof payload === 'string' ? showText(payload) : payload;
}

function showExample(text: string): string {
  return isShowableValue(text) ? text : leftOut;
}

/** Keeps the event headers whose values may be shown. */
export function redactHeaders(headers: EventHeaders): EventHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => isShowableValue(value)));
}
