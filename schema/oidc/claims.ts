import { z } from 'zod';
import {
  type Clause,
  findOperatorMistakes,
  hasOperator,
  isObject,
  makeOperatorsSchema,
  type Operators,
  toClauses,
} from '../filters/clause.ts';
import { printable } from '../text/printable.ts';
import { joinWithOr } from '../text/suggestion.ts';

/** @limit Most claims that a webhook can ask for: issuers have about 30. */
const claimsMax = 30;
/** @limit Most values of one claim in a webhook: more callers get webhooks of their own, or share a claim. */
const claimValuesMax = 100;
/** @limit Longest name or value of a claim in a webhook, in characters: names and values of known issuers have up to 300. */
const claimCharsMax = 500;

type ClaimValue = string | boolean;

type ClaimCondition = readonly ClaimValue[] | Pick<Operators<ClaimValue>, 'in' | 'not_in' | 'exists'>;

/** Conditions for the claims of a token: all must hold. */
export interface ClaimFilter {
  readonly [claim: string]: ClaimCondition;
}

/** The claims of a token whose signature was verified. */
export type TokenClaims = Readonly<Record<string, unknown>>;

const values = {
  type: 'array',
  items: { type: ['string', 'boolean'] },
  minItems: 1,
  maxItems: claimValuesMax,
};

/** Checks the claims of a definition or a setting, and reports every mistake in them. */
export const claimsShape: z.ZodType<ClaimFilter> = z
  .unknown()
  .meta({
    type: 'object',
    minProperties: 1,
    maxProperties: claimsMax,
    additionalProperties: {
      description: 'A list of allowed values, or operators, which must all hold: in, not_in or exists.',
      anyOf: [values, makeOperatorsSchema({ in: values, not_in: values, exists: { type: 'boolean' } })],
    },
    examples: [{ repository: ['acme/shop'] }],
  })
  .transform((value, context): ClaimFilter => {
    for (const { path, message, hint } of findMistakes(value)) {
      const params = { code: 'webhook/claims-invalid', hint };
      context.issues.push({ code: 'custom', input: value, path, message, params });
    }
    // Every mistake was reported, so without any, the value is a filter.
    return value as ClaimFilter;
  });

interface ClaimMistake {
  readonly path: (string | number)[];
  readonly message: string;
  readonly hint: string;
}

/** Claims that are always checked, so that a condition would say nothing more or contradict. */
const checkedAnyway: ReadonlyMap<string, string> = new Map([
  ['iss', 'remove it: issuer says which it must be'],
  ['aud', 'remove it, and write the value as audience'],
  ...['exp', 'nbf', 'iat'].map(name => [name, 'remove it: times are always checked'] as const),
]);

function* findMistakes(claims: unknown): Generator<ClaimMistake> {
  if (!isObject(claims) || Object.keys(claims).length === 0) {
    const message = 'claims must be a mapping from names of claims to their allowed values';
    yield { path: [], message, hint: 'write them as in claims: { repository: [acme/shop] }' };
    return;
  }
  const names = Object.keys(claims);
  if (names.length > claimsMax) {
    const message = `${names.length} claims are more than the ${claimsMax} that are allowed`;
    yield { path: [], message, hint: 'name only claims that decide' };
  }
  for (const name of names) {
    const hint = checkedAnyway.get(name);
    if (hint !== undefined) yield { path: [name], message: `${name} is checked anyway`, hint };
    else if (name.length > claimCharsMax) {
      yield { path: [name], message: 'the name of the claim is too long', hint: 'is it a name?' };
    } else yield* findConditionMistakes(name, claims[name]);
  }
}

function* findConditionMistakes(name: string, condition: unknown): Generator<ClaimMistake> {
  const operators = isObject(condition) && hasOperator(condition) ? condition : undefined;
  if (!operators && !Array.isArray(condition)) {
    const message = `${name} must be a list of allowed values, or operators: in, not_in or exists`;
    const isValue = typeof condition === 'string' || typeof condition === 'boolean';
    const hint = `write ${name}: ${isValue ? JSON.stringify([condition]) : '[a, b], with whole values'}`;
    yield { path: [name], message, hint };
    return;
  }
  for (const { path, message, hint } of operators ? findOperatorMistakes(operators) : [])
    yield { path: [name, ...path], message, hint };
  for (const clause of toClauses(condition) ?? []) {
    const path = operators ? [name, clause.operator] : [name];
    if (clause.operator === 'in' || clause.operator === 'not_in')
      yield* findListMistakes(clause.values, path);
    else if (clause.operator !== 'exists') {
      const message = `claims have no operator ${clause.operator}`;
      yield { path, message, hint: `write ${name}: [a, b], with whole values` };
    }
  }
}

function* findListMistakes(list: readonly unknown[], path: string[]): Generator<ClaimMistake> {
  const { length } = list;
  if (length === 0) {
    yield { path, message: 'the list is empty', hint: 'list the values, or use { exists: true }' };
  } else if (length > claimValuesMax) {
    const message = `the list has ${length} values, and at most ${claimValuesMax} are allowed`;
    yield { path, message, hint: 'use a claim that these callers share' };
    return;
  }
  for (const [index, value] of list.entries()) {
    if (isClaimValue(value)) continue;
    const hint = typeof value === 'number' ? 'put it in quotes' : 'write one flat list';
    yield { path: [...path, index], message: 'a value of a claim is a short string, true or false', hint };
  }
}

function isClaimValue(value: unknown): value is ClaimValue {
  return typeof value === 'boolean' || (typeof value === 'string' && value.length <= claimCharsMax);
}

/** @limit Characters of a token's claim that an explanation shows: enough to recognise it. */
const shownCharsMax = 200;

/**
 * Says which condition the claims of a verified token do not meet; undefined if they meet all. A claim that is a list meets
 * a condition if one of its elements does. Types count: "true" is not true.
 */
export function explainClaims(filter: ClaimFilter, claims: TokenClaims): string | undefined {
  for (const [name, condition] of Object.entries(filter)) {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    for (const clause of toClauses(condition) ?? [undefined]) {
      const mismatch = explainCondition(name, clause, value);
      if (mismatch !== undefined) return mismatch;
    }
  }
  return undefined;
}

function explainCondition(name: string, clause: Clause | undefined, value: unknown): string | undefined {
  if (clause?.operator === 'exists') {
    if ((value !== undefined) === clause.expected) return undefined;
    return `the token has ${clause.expected ? 'no' : 'a'} claim ${showClaim(name)}`;
  }
  // Fails closed: no other operator passes the check of a definition.
  if (clause?.operator !== 'in' && clause?.operator !== 'not_in') return `the claim ${name} has no condition`;
  const { operator, values } = clause;
  const isListed = [value].flat().some(element => values.includes(element));
  if (isListed === (operator === 'in')) return undefined;
  if (value === undefined) return `the token has no claim ${showClaim(name)}`;
  const expected = operator === 'in' ? `not ${showChoices(values)}` : 'which is excluded';
  return `the claim ${showClaim(name)} is ${showClaim(value)}, ${expected}`;
}

/** @limit Allowed values of a claim that an explanation shows. */
const shownValuesMax = 5;

function showChoices(values: readonly unknown[]): string {
  const shown = values.slice(0, shownValuesMax).map(showClaim);
  const others = values.length - shown.length;
  return joinWithOr(others === 0 ? shown : [...shown, `one of ${others} others`]);
}

/** Shows a value of a claim on one line. A text that could be mistaken for another type is in quotes. */
export function showClaim(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"]+$/.test(value) && !/^(true|false|\d+)$/.test(value);
  const text = isPlain ? value : (JSON.stringify(value) ?? 'missing');
  return printable(text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text);
}
