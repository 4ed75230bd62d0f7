import { expect, inject, test } from 'vitest';
import { hasEscapedKeyDefect, parseJsonText } from '../../../json/parse-json-text.ts';
import { createRandom } from '../../support/random.ts';
import { testLimitMs } from '../../support/test-limit.ts';
import { isReference, readReference } from './json-reference.ts';

const payloads = inject('isLong') ? 1_000_000 : 5_000;
const timeout = inject('isLong') ? 3_600_000 : testLimitMs;
// A short run reads the same payloads each time; a long one looks for what nobody has seen yet.
const seed = inject('isLong') ? Math.floor(Math.random() * 2 ** 32) : 1;

const random = createRandom(seed);
const pick = <T>(choices: readonly [T, ...T[]]): T =>
  choices[Math.floor(random() * choices.length)] ?? choices[0];
const list = (max: number, make: () => string) =>
  Array.from({ length: Math.floor(random() * (max + 1)) }, make);

/**
 * Few parts, so that the same keys stand at the same places again and again, spelled in different ways: V8 remembers only
 * the first 1,536 keys at a place.
 */
const parts = [
  ...(['a', 'gr', 'n', 'u0', '\\', '\\u', '\\u0', '"', '/', '\n', 'é', 'öß'] as const),
  ...(['😀', '\ud83d', '__proto__', '7'] as const),
] as const satisfies readonly [string, ...string[]];
const short = new Map([...'"\\/'].map(char => [char, `\\${char}`]));
for (const [index, char] of ['\b', '\f', '\n', '\r', '\t'].entries()) short.set(char, `\\${'bfnrt'[index]}`);

/** Spells a string as an encoder could that escapes more or less than it must. */
function spell(text: string): string {
  const escaping = pick([0, 0.3, 1]);
  const units = text.split('').map(unit => {
    const mustEscape = unit < ' ' || unit === '"' || unit === '\\';
    if (!mustEscape && random() >= escaping) return unit;
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return (random() < 0.5 ? short.get(unit) : undefined) ?? `\\u${pick([hex, hex.toUpperCase()])}`;
  });
  return `"${units.join('')}"`;
}

const space = () => pick(['', '', '', ' ', '\n\t', '\r\n  ']);
const text = () => spell(list(2, () => pick(parts)).join(''));
const number = () => pick(['0', '-0', '1', '-1.50', '1e400', '1E-7', '9007199254740993', '0.1', '-5e-324']);
const words = ['true', 'false', 'null', '{}', '[]'] as const;
const join = (items: readonly string[]) => items.map(item => `${space()}${item}${space()}`).join(',');

function makeValue(depth: number): string {
  const kind = depth > 3 ? random() * 0.5 : random();
  if (kind < 0.2) return number();
  if (kind < 0.4) return text();
  if (kind < 0.5) return pick(words);
  if (kind < 0.65) return `[${join(list(4, () => makeValue(depth + 1)))}]`;
  return makeObject(depth);
}

function makeObject(depth: number): string {
  const keys = [...pick([[], ['"id"'], ['"id"', '"type"']]), ...list(3, text)];
  return `{${join(keys.map(key => `${key}${space()}:${space()}${makeValue(depth + 1)}`))}}`;
}

/** Most payloads are JSON. In the others, a character was lost or doubled. */
function makePayload(): string {
  const payload = makeObject(0);
  if (random() > 0.05) return payload;
  const at = Math.floor(random() * payload.length);
  return payload.slice(0, at) + payload.slice(at + pick([1, -1]));
}

const attempt = <T>(read: () => T): { readonly value: T } | undefined => {
  try {
    return { value: read() };
  } catch {
    return undefined;
  }
};

test('reads payloads with escaped keys in one process as a reader does that shares no code with it', {
  timeout,
}, () => {
  const counts = { payloads, json: 0, withEscapedKeys: 0, misreadByJsonParse: 0 };
  for (let index = 0; index < payloads; index++) {
    const payload = makePayload();
    const reference = attempt(() => readReference(payload));
    const read = attempt(() => parseJsonText(payload));
    const isRight = reference && read ? isReference(read.value, reference.value) : reference === read;
    if (!isRight) expect.fail(`payload ${index} of seed ${seed} is misread: ${payload}`);
    if (!reference) continue;
    counts.json++;
    if (/\\[^"]*"\s*:/.test(payload)) counts.withEscapedKeys++;
    if (!isReference(JSON.parse(payload), reference.value)) counts.misreadByJsonParse++;
  }
  if (inject('isLong')) console.log(process.version, { seed, ...counts });
  expect(counts.json).toBeGreaterThan(payloads * 0.9);
  expect(counts.withEscapedKeys).toBeGreaterThan(payloads * 0.4);
  // So these are payloads that need a reader of our own.
  expect(counts.misreadByJsonParse > 0).toBe(hasEscapedKeyDefect());
});
