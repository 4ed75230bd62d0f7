import { z } from 'zod';
import { addMistake } from '../schema/definitions/add-mistake.ts';
import { parseTemplate } from './content.ts';
import type { SignatureDescription, SignatureScheme } from './description.ts';
import { customerSchemes } from './schemes/customers.ts';
import { hostingSchemes } from './schemes/hosting.ts';
import { messagingSchemes } from './schemes/messaging.ts';
import { operationsSchemes } from './schemes/operations.ts';
import { paymentSchemes } from './schemes/payment.ts';
import { platformSchemes } from './schemes/platforms.ts';
import { sourceHostingSchemes } from './schemes/source-hosting.ts';
import { standardSchemes } from './schemes/standard.ts';
import { workSchemes } from './schemes/work.ts';

/** @limit Longest replay window that a custom scheme may ask for, in seconds: a longer one no longer stops replays. */
const signatureWindowSecondsMax = 3600;

/** Every scheme that is shipped, in the order of the documentation. */
export const schemes: readonly SignatureScheme[] = [
  ...standardSchemes,
  ...sourceHostingSchemes,
  ...hostingSchemes,
  ...paymentSchemes,
  ...operationsSchemes,
  ...workSchemes,
  ...customerSchemes,
  ...messagingSchemes,
  ...platformSchemes,
];

export const schemeIds: readonly string[] = schemes.map(scheme => scheme.id);

const schemesById: ReadonlyMap<string, SignatureScheme> = new Map(schemes.map(scheme => [scheme.id, scheme]));

export function findScheme(id: string): SignatureScheme | undefined {
  return schemesById.get(id);
}

/** What a definition's `signatureScheme` stands for; undefined for an id that no shipped scheme has. */
export function describeScheme(reference: string | CustomScheme): SignatureDescription | undefined {
  return typeof reference === 'string' ? findScheme(reference) : { primitive: 'hmac', ...reference };
}

const headerName = text(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/,
  'is not a header name',
  'the name alone, as in X-Signature',
);
const fieldName = text(/^[0-9A-Za-z_-]{1,64}$/, 'is not a field name', 'letters, digits, _ and -, as in v1');
const bodyPath = text(
  /^[0-9A-Za-z_-]{1,64}(\.[0-9A-Za-z_-]{1,64}){0,7}$/,
  'is not a path into the body',
  'keys joined by dots, as in event.sentAt',
);
const separator = text(/^[\x20-\x7e]{1,4}$/, 'is not a separator', 'one to four printable ASCII characters');
const prefix = text(/^[\x20-\x7e]{1,64}$/, 'is not a prefix', '1 to 64 printable ASCII characters');

const timestamp = z.strictObject({
  header: headerName.exactOptional().describe('The header that holds the timestamp.'),
  field: fieldName.exactOptional().describe("The item of the signature's list that holds the timestamp."),
  body: bodyPath.exactOptional().describe('Where the JSON body holds the timestamp: keys joined by dots.'),
  unit: z.enum(['s', 'ms', 'iso8601']).describe('Seconds or milliseconds since 1970, or ISO 8601 text.'),
  toleranceSeconds: z
    .int()
    .min(1)
    .max(signatureWindowSecondsMax)
    .describe('How many seconds the timestamp may be old, and ahead.'),
});

/** An HMAC that a definition file describes itself, in the fields of the shipped schemes. */
export const customScheme = z
  .strictObject({
    header: headerName.describe('The header that holds the signature.'),
    hash: z.enum(['sha1', 'sha256', 'sha512']),
    encoding: z.enum(['hex', 'base64', 'base64url']).describe('How the signature is written.'),
    prefix: prefix.exactOptional().describe('Text before the signature, as in sha256=.'),
    list: z
      .strictObject({ separator, keyValueSeparator: separator, key: fieldName })
      .exactOptional()
      .describe('The header is a list of items; those with this key are signatures.'),
    content: z.string().describe('What is signed, over {body} {timestamp} {id} {url} {method}.'),
    timestamp: timestamp.exactOptional(),
    idHeader: headerName.exactOptional().describe('The header that {id} stands for.'),
    key: z
      .strictObject({ stripPrefix: prefix.exactOptional(), encoding: z.enum(['utf8', 'base64', 'hex']) })
      .exactOptional()
      .describe('How the key is made from the secret; by default its UTF-8 bytes.'),
  })
  .superRefine((scheme, context) => {
    for (const { path, message, hint } of problemsOf(scheme)) {
      addMistake(context, path, message, { code: 'webhook/scheme-invalid', hint });
    }
  });

export type CustomScheme = z.output<typeof customScheme>;

interface SchemeProblem {
  readonly path: string[];
  readonly message: string;
  readonly hint: string;
}

/** The rules over several fields: what is described can be verified, and what it names is signed. */
function* problemsOf(scheme: CustomScheme): Generator<SchemeProblem> {
  const template = parseTemplate(scheme.content);
  if (!template.ok) {
    yield {
      path: ['content'],
      message: template.problem,
      hint: 'it is built of {body} {timestamp} {id} {url} {method} and printable ASCII between them',
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
      hint: 'list.key and list.keyValueSeparator already name what stands before it',
    };
  }
  yield* idProblems(scheme, signs('id'));
  yield* timestampProblems(scheme, signs('timestamp'));
}

function* idProblems({ idHeader }: CustomScheme, signed: boolean): Generator<SchemeProblem> {
  if (signed && idHeader === undefined) {
    yield {
      path: ['content'],
      message: '{id} is signed, but no header holds it',
      hint: 'name the header in idHeader:',
    };
  }
  if (!signed && idHeader !== undefined) {
    yield {
      path: ['idHeader'],
      message: `${idHeader} is not signed`,
      hint: "put {id} into content, or name it in the webhook's deliveryIdHeader instead",
    };
  }
}

function* timestampProblems({ timestamp, list }: CustomScheme, signed: boolean): Generator<SchemeProblem> {
  if (!timestamp) {
    if (!signed) return;
    yield {
      path: ['content'],
      message: '{timestamp} is signed, but nothing says where it stands',
      hint: 'add timestamp: with a header, a field or a body path, its unit and toleranceSeconds',
    };
    return;
  }
  const { header, field, body } = timestamp;
  const places = [header, field, body].filter(place => place !== undefined).length;
  if (places !== 1) {
    const found = places === 0 ? 'none is named' : `${places} are named`;
    yield {
      path: ['timestamp'],
      message: `toleranceSeconds needs the one place where the timestamp stands, and ${found}`,
      hint: "name one of header, field (of the signature's list) or body (a path)",
    };
    return;
  }
  if (field !== undefined && !list) {
    yield {
      path: ['timestamp', 'field'],
      message: 'a field needs a signature that is a list',
      hint: 'add list: with its separator, keyValueSeparator and key, or name a header',
    };
  }
  if (body === undefined && !signed) {
    yield {
      path: ['timestamp'],
      message: 'the timestamp is not signed, so it proves nothing',
      hint: 'put {timestamp} into content where the sender signs it, or remove timestamp:',
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

/** A string of a pattern, reported as a mistake of the scheme. */
function text(pattern: RegExp, complaint: string, hint: string) {
  return z
    .string()
    .superRefine((value, context) => {
      if (pattern.test(value)) return;
      addMistake(context, [], `"${value}" ${complaint}`, { code: 'webhook/scheme-invalid', hint });
    })
    .meta({ pattern: pattern.source });
}
