/** @limit Most characters of a payload that the explanation of one clause shows: a line or two on a screen. */
const excerptCharsMax = 200;

/**
 * Renders a payload's value as JSON, cut with `…` after `excerptCharsMax` characters; `missing` if there is no value.
 * A number that JSON.parse changed is shown as changed: `≈9007199254740992`, `Infinity`.
 */
export function excerpt(value: unknown): string {
  let text = '';
  for (const token of tokens(value)) {
    text += token;
    if (text.length > excerptCharsMax) return `${text.slice(0, excerptCharsMax)}…`;
  }
  return text;
}

// Lazy: each level yields a character before it recurses, so the caller's bound also ends the recursion.
function* tokens(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield '[';
    for (const [index, element] of value.entries()) {
      if (index > 0) yield ', ';
      yield* tokens(element);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield '{';
    for (const [index, [key, field]] of Object.entries(value).entries()) {
      yield `${index > 0 ? ', ' : ''}${scalar(key)}: `;
      yield* tokens(field);
    }
    yield '}';
  } else {
    yield scalar(value);
  }
}

function scalar(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, excerptCharsMax));
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? `≈${value}` : String(value);
}
