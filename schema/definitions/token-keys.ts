import { z } from 'zod';
import { findHeaderNameMistake, headerNamePattern } from '../headers.ts';
import { addMistake, type KeyRule } from './add-mistake.ts';

/** @limit Longest user of HTTP Basic, and longest text before a token, in characters: both are short names. */
const tokenTextCharsMax = 100;

const tokenHeader = z
  .string()
  .superRefine((name, context) => {
    const mistake = findHeaderNameMistake(name, 'X-Gitlab-Token');
    if (mistake) addMistake(context, [], mistake.message, { code: 'definition/value', hint: mistake.hint });
  })
  .meta({ pattern: headerNamePattern.source, examples: ['X-Gitlab-Token'] });

/** The keys of a webhook that only `authMode: token` has: where the sender puts the token. */
export const tokenKeys = {
  tokenHeader: tokenHeader
    .optional()
    .describe('Only with authMode token: the request header that holds the token, instead of Authorization.'),
  tokenPrefix: z
    .string()
    .regex(/^[\x20-\x7e]+$/)
    .max(tokenTextCharsMax)
    .optional()
    .describe('Only with tokenHeader: text before the token, in printable ASCII characters.')
    .meta({ examples: ['Token '] }),
  tokenScheme: z
    .enum(['bearer', 'basic'])
    .optional()
    .describe('Only with authMode token: the scheme of the Authorization header.')
    .meta({ enumDescriptions: ['The header is Bearer and the token. This is the default.', 'HTTP Basic.'] }),
  tokenUser: z
    .string()
    .regex(/^[\x20-\x39\x3b-\x7e]+$/)
    .max(tokenTextCharsMax)
    .optional()
    .describe(
      'Only with tokenScheme basic: the user, in printable ASCII without a colon; the token is the password.',
    )
    .meta({ examples: ['azure-devops'] }),
};

const ofKey = (key: keyof typeof tokenKeys, holds: KeyRule['holds'], needed: string): KeyRule => ({
  holds: webhook => webhook[key] === undefined || holds(webhook),
  key,
  error: `${key} has no effect without ${needed}`,
  params: { code: 'definition/value', hint: `write ${needed}, or remove ${key}`, atKey: true },
});

const ofToken: KeyRule['holds'] = ({ authMode }) => authMode === undefined || authMode === 'token';

/** Which of these keys need or exclude each other. */
export const tokenRules: readonly KeyRule[] = [
  ofKey('tokenHeader', ofToken, 'authMode: token'),
  ofKey('tokenScheme', ofToken, 'authMode: token'),
  ofKey('tokenPrefix', ({ tokenHeader }) => tokenHeader !== undefined, 'tokenHeader: X-Token'),
  ofKey('tokenUser', ({ tokenScheme }) => tokenScheme === 'basic', 'tokenScheme: basic'),
  {
    holds: ({ tokenScheme, tokenHeader }) => tokenScheme === undefined || tokenHeader === undefined,
    key: 'tokenScheme',
    error: 'tokenScheme is about the Authorization header, but tokenHeader names another one',
    params: { code: 'definition/value', hint: 'remove one of the two', atKey: true },
  },
  {
    holds: ({ tokenScheme, tokenUser }) => tokenScheme !== 'basic' || tokenUser !== undefined,
    key: 'tokenScheme',
    error: 'tokenScheme basic needs tokenUser',
    params: { code: 'definition/missing-key', hint: 'add tokenUser: with the user that the sender sends' },
  },
];
