import type { EventHeaders } from '../headers.ts';
import { isShowableName, isShowableValue } from '../text/credentials.ts';
import { isShowableKey } from './observed-paths.ts';

/** @limit Deepest level of a payload that a redacted copy keeps: payload filters nest no deeper than 16. */
const keptLevelsMax = 32;

/** Replaces a value that is left out. */
const leftOut = '(left out)';

/**
 * Copies a payload without what `payloads describe` would not show: long texts, values that look like credentials, and
 * everything below names like `token` or `password`.
 */
export function redactPayload(payload: unknown, level = 0): unknown {
  if (level > keptLevelsMax) return leftOut;
  if (Array.isArray(payload)) return payload.map(element => redactPayload(element, level + 1));
  if (typeof payload === 'object' && payload !== null) {
    const entries = Object.entries(payload).filter(([key]) => isShowableKey(key));
    return Object.fromEntries(
      entries.map(([key, value]) => [
        key,
        isShowableName(key) || value === null ? redactPayload(value, level + 1) : leftOut,
      ]),
    );
  }
  return typeof payload === 'string' && !isShowableValue(payload) ? leftOut : payload;
}

/** Keeps the event headers whose values may be shown. */
export function redactHeaders(headers: EventHeaders): EventHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => isShowableValue(value)));
}
