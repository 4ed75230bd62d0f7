import { readField } from '../field-path.ts';

/** Writes the values of a template that are not shown as they are; undefined leaves out what needs the value. */
type ValueFormat = (value: unknown, payload: unknown, path: string) => string | undefined;

const valueFormats: Readonly<Record<string, ValueFormat>> = {
  branch: value => toText(value)?.replace(/^refs\/(?:heads|tags)\//, ''),
  commits: value => {
    const count = Array.isArray(value) ? value.length : value;
    if (typeof count !== 'number' || count < 1) return undefined;
    return count === 1 ? '1 commit' : `${count} commits`;
  },
  id: value => shortenId(toText(value)),
  money: (value, payload, path) => formatMoney(value, readPath(payload, path.replace(/[^.]+$/, 'currency'))),
};

/**
 * Fills the first of some templates whose places all have a value. `hide` changes what comes from the payload, unless its
 * format makes it harmless.
 */
export function fillTemplates(
  templates: readonly string[],
  payload: unknown,
  hide: (text: string) => string,
): string | undefined {
  for (const template of templates) {
    let isComplete = true;
    const text = template.replaceAll(/\{([^{}]+)\}/g, (_, paths: string) => {
      const found = readPlace(paths, payload);
      isComplete &&= found !== undefined;
      return found?.isHarmless ? found.text : hide(found?.text ?? '');
    });
    if (isComplete) return text;
  }
  return undefined;
}

function readPlace(
  paths: string,
  payload: unknown,
): { readonly text: string; readonly isHarmless: boolean } | undefined {
  for (const place of paths.split('|')) {
    const [path = '', format = ''] = place.split(':');
    const value = readPath(payload, path);
    const text = format === '' ? toText(value) : valueFormats[format]?.(value, payload, path);
    if (text !== undefined) return { text, isHarmless: format === 'id' || format === 'money' };
  }
  return undefined;
}

/** Reads the value at the first of some dotted paths, `a.b|c.0`, that has a text or a number. */
export function readFirst(paths: string, payload: unknown): string | undefined {
  return readPlace(paths, payload)?.text;
}

/** Whether a payload has a value, other than null, at one of some dotted paths. */
export function hasPath(paths: string, payload: unknown): boolean {
  return paths.split('|').some(path => (readPath(payload, path) ?? null) !== null);
}

function readPath(payload: unknown, path: string): unknown {
  return readField(
    payload,
    path.split('.').map(step => (/^\d+$/.test(step) ? Number(step) : step)),
  );
}

/** @limit Most characters of a value of a payload from which a title or a text is made: more are never shown. */
const valueCharsMax = 400;

function toText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, valueCharsMax) : undefined;
}

/** Shortens an ID such as `ch_3MmlLrLkdIwHu7ix0snN0B15` to `ch_3Mm…15`, which nobody could use as a credential. */
function shortenId(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= 12) return id;
  const prefix = /^[a-z]{2,8}_/.exec(id)?.[0].length ?? 3;
  return `${id.slice(0, prefix + 3)}…${id.slice(-2)}`;
}

/** The digits after the point for which Stripe does not follow ISO 4217. */
const digitsOfStripe: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** Writes an amount of minor units, such as cents, in its currency. */
function formatMoney(amount: unknown, currency: unknown): string | undefined {
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) return undefined;
  if (typeof currency !== 'string' || !/^[a-z]{3}$/i.test(currency)) return undefined;
  const code = currency.toUpperCase();
  const own = new Intl.NumberFormat('en-US', { style: 'currency', currency: code });
  const digits = digitsOfStripe[code] ?? own.resolvedOptions().maximumFractionDigits ?? 2;
  const format = {
    style: 'currency',
    currency: code,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  return new Intl.NumberFormat('en-US', format).format(amount / 10 ** digits);
}
