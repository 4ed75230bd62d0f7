import { z } from 'zod';
import { parseTemplate, placeholderList } from '../../signatures/content.ts';
import { hmacEncodings, hmacHashes, secretEncodings, timestampUnits } from '../../signatures/description.ts';
import { headerNamePattern } from '../headers.ts';
import { addMistake } from './add-mistake.ts';

/** @limit Longest replay window that a custom scheme may ask for, in seconds: a longer one no longer stops replays. */
const signatureWindowSecondsMax = 3600;

const headerName = makeText(
  headerNamePattern,
  'is not a header name',
  'write only the name, as in X-Signature',
);
const fieldName = makeText(
  /^[0-9A-Za-z_-]{1,64}$/,
  'is not a field name',
  'use 1–64 letters, digits, _ or -, as in v1',
);
const bodyPath = makeText(
  /^[0-9A-Za-z_-]{1,64}(\.[0-9A-Za-z_-]{1,64}){0,7}$/,
  'is not a path into the body',
  'join the keys with dots, as in event.sentAt',
);
const separator = makeText(/^[\x20-\x7e]{1,4}$/, 'is not a separator', 'use 1–4 printable ASCII characters');
const prefix = makeText(/^[\x20-\x7e]{1,64}$/, 'is not a prefix', 'use 1–64 printable ASCII characters');

const timestampShape = z.strictObject({
  header: headerName.exactOptional().describe('The header that holds the timestamp.'),
  field: fieldName.exactOptional().describe("The item of the signature's list that holds the timestamp."),
  item: z
    .literal('first')
    .exactOptional()
    .describe('In a list without keys, the item that holds the timestamp.'),
  body: bodyPath.exactOptional().describe('The path of the timestamp in the JSON body: keys joined by dots.'),
  unit: z
    .enum(timestampUnits)
    .describe('Seconds or milliseconds since 1970, or ISO 8601 text: with a zone, or in UTC without one.'),
  toleranceSeconds: z
    .int()
    .min(1)
    .max(signatureWindowSecondsMax)
    .describe('How many seconds the timestamp may be in the past or in the future.'),
});

/** An HMAC that a definition file describes, in the same fields as the supported schemes. */
export const customScheme = z
  .strictObject({
    header: headerName.describe('The header that holds the signature.'),
    hash: z.enum(hmacHashes),
    encoding: z.enum(hmacEncodings).describe('The encoding of the signature.'),
    prefix: prefix.exactOptional().describe('Text before the signature, as in sha256=.'),
    list: z
      .strictObject({
        separator,
        keyValueSeparator: separator.exactOptional(),
        key: fieldName.exactOptional(),
      })
      .exactOptional()
      .describe(
        'The header is a list of items; the items with this key are signatures, or all if the items have no keys.',
      ),
    content: z.string().describe(`The signed content, built from ${placeholderList}.`),
    timestamp: timestampShape.exactOptional(),
    idHeader: headerName.exactOptional().describe('The header whose value replaces {id}.'),
    key: z
      .strictObject({ stripPrefix: prefix.exactOptional(), encoding: z.enum(secretEncodings) })
      .exactOptional()
      .describe("How to derive the key from the secret. By default, the key is the secret's UTF-8 bytes."),
    answer: z
      .strictObject({
        status: z.union([z.literal(200), z.literal(202)]),
        isEmpty: z.boolean().exactOptional().describe('Whether the answer has no body.'),
      })
      .exactOptional()
      .describe('The answer to an accepted delivery, and to a duplicate. By default, 202 with its ID.'),
  })
  .superRefine((scheme, context) => {
    for (const { path, message, hint } of findProblems(scheme)) {
      addMistake(context, path, message, { code: 'webhook/scheme-invalid', hint });
    }
  });

export type CustomScheme = z.output<typeof customScheme>;

/** A scheme's id, or the user's own description of an HMAC. */
export type SchemeReference = string | CustomScheme;

interface SchemeProblem {
  readonly path: string[];
  readonly message: string;
  readonly hint: string;
}

/** Checks the rules that involve several fields: the scheme can be verified, and every part it names is signed. */
function* findProblems(scheme: CustomScheme): Generator<SchemeProblem> {
  const template = parseTemplate(scheme.content);
  if (!template.ok) {
    yield {
      path: ['content'],
      message: template.problem,
      hint: `use ${placeholderList} and printable ASCII characters`,
    };
    return;
  }
  const signs = (placeholder: string) => template.placeholders.has(placeholder);

  if (!signs('body')) {
    yield {
      path: ['content'],
      message: 'the signature does not cover the body',
      hint: 'put {body} where the sender puts the request body, as in "{timestamp}.{body}"',
    };
  }
  if (scheme.list && scheme.prefix !== undefined) {
    yield {
      path: ['prefix'],
      message: 'a signature in a list has no prefix',
      hint: 'remove prefix: list.key and list.keyValueSeparator already precede the signature',
    };
  }
  if (scheme.list && (scheme.list.key === undefined) !== (scheme.list.keyValueSeparator === undefined)) {
    yield {
      path: ['list'],
      message: 'list needs both key and keyValueSeparator, or neither',
      hint: 'remove both if each item of the header is a signature without a key',
    };
  }
  yield* findIdProblems(scheme, signs('id'));
  yield* findTimestampProblems(scheme, signs('timestamp'));
}

function* findIdProblems({ idHeader }: CustomScheme, signed: boolean): Generator<SchemeProblem> {
  if (signed && idHeader === undefined) {
    yield {
      path: ['content'],
      message: '{id} is signed, but idHeader is missing',
      hint: 'set idHeader to the header that contains the ID',
    };
  }
  if (!signed && idHeader !== undefined) {
    yield {
      path: ['idHeader'],
      message: `${idHeader} is not signed`,
      hint: "add {id} to content, or use the webhook's deliveryIdHeader instead",
    };
  }
}

function* findTimestampProblems(
  { timestamp, list }: CustomScheme,
  signed: boolean,
): Generator<SchemeProblem> {
  if (!timestamp) {
    if (!signed) return;
    yield {
      path: ['content'],
      message: '{timestamp} is signed, but timestamp is missing',
      hint: 'add timestamp with unit, toleranceSeconds, and one of header, field, item or body',
    };
    return;
  }
  const { header, field, item, body } = timestamp;
  const places = [header, field, item, body].filter(place => place !== undefined).length;
  if (places !== 1) {
    yield {
      path: ['timestamp'],
      message: `timestamp needs exactly one of header, field, item and body; it has ${places === 0 ? 'none' : places}`,
      hint: "set one: header, field or item (of the signature's list) or body (a path)",
    };
    return;
  }
  if (field !== undefined && list?.key === undefined) {
    yield {
      path: ['timestamp', 'field'],
      message: 'timestamp.field works only if the signature header is a list with keys',
      hint: 'add list with separator, keyValueSeparator and key, or use timestamp.header',
    };
  }
  if (item !== undefined && (!list || list.key !== undefined)) {
    yield {
      path: ['timestamp', 'item'],
      message: 'timestamp.item works only if the signature header is a list without keys',
      hint: 'add list with only a separator, or use timestamp.field',
    };
  }
  if (body === undefined && !signed) {
    yield {
      path: ['timestamp'],
      message: 'the timestamp is not signed, so it proves nothing',
      hint: 'add {timestamp} to content where the sender signs it, or remove timestamp',
    };
  }
  if (body !== undefined && signed) {
    yield {
      path: ['content'],
      message: 'a timestamp in the body is signed with the body, not as {timestamp}',
      hint: 'remove {timestamp} from content',
    };
  }
}

/** Makes the shape of a string that must match a pattern. */
function makeText(pattern: RegExp, complaint: string, hint: string) {
  return z
    .string()
    .superRefine((value, context) => {
      if (pattern.test(value)) return;
      addMistake(context, [], `"${value}" ${complaint}`, { code: 'webhook/scheme-invalid', hint });
    })
    .meta({ pattern: pattern.source });
}
