import { createTextFinder } from '../../../json/find-json-text.ts';
import { type FieldPath, parseFieldPath, suggestFieldPath } from '../../../schema/field-path.ts';
import { secretNamePattern } from '../../../schema/text/credentials.ts';

/** @limit Values that a template takes from elsewhere: far more than a receiver has fields for. */
const referencesMax = 200;
/** @limit Largest body that a template makes, in characters (64 Mi): as many as a run can gather bytes of payloads. */
const bodyCharsMax = 64 * 1024 * 1024;

/** The values without a path, as a template names them. */
const plainNames = [
  ...['message', 'messageWithPayload', 'payloadText', 'payloads', 'run', 'delivery', 'webhook'],
  ...['automation', 'factory', 'attempt'],
] as const;

/** A reference to a value, which a template writes in its place: `{run}`, `{payload.issue.id}`, `{headers.x-github-event}` … */
export type Reference =
  | { readonly root: (typeof plainNames)[number] }
  | { readonly root: 'payload'; readonly path: FieldPath; readonly optional: boolean }
  | { readonly root: 'headers'; readonly name: string | undefined; readonly optional: boolean }
  | { readonly root: 'secret'; readonly name: string };

type Text = { readonly text: string } | { readonly reference: Reference } | TemplateMistake;

export interface TemplateMistake {
  readonly message: string;
  readonly hint: string;
}

const insteadHint = 'a value takes the place of a whole text, e.g. "{payload.issue.id}"';
const braceHint = 'write \\{ and \\} for braces that mean themselves';
const knownHint = `known are payload, headers, secret, ${plainNames.join(', ')}; ${braceHint}`;

/**
 * Parses one text of a template: it is a reference as a whole, or not at all. Nothing is ever inserted into a text, so a
 * value cannot break out of its own.
 */
export function parseTemplateText(text: string): Text {
  const [, inner] = /^\{([^{}]*)\}$/.exec(text) ?? [];
  if (inner !== undefined && !inner.endsWith('\\')) {
    const reference = parseReference(inner);
    return reference ? { reference } : { message: `a template has no value ${text}`, hint: suggest(text) };
  }
  if (/^\$?\{\{.*\}\}$/s.test(text))
    return { message: 'a template has one pair of braces around a value', hint: suggest(text) };
  if (/(?<!\\)[{}]/.test(text))
    return {
      message: 'a template inserts nothing into a longer text',
      hint: `${insteadHint}; ${braceHint}`,
    };
  return { text: text.replaceAll(/\\([{}])/g, '$1') };
}

function parseReference(inner: string): Reference | undefined {
  const [, root = '', rest = '', mark] = /^([A-Za-z]+)(.*?)(\?)?$/s.exec(inner) ?? [];
  const optional = mark === '?';
  if (root === 'payload') {
    const path = rest === '' ? [] : parseFieldPath(`$${rest}`);
    return path && { root, path, optional };
  }
  if (root === 'headers') {
    const [, name] = /^\.([\w!#$%&'*+.^`|~-]+)$/.exec(rest) ?? [];
    return rest === '' || name !== undefined ? { root, name: name?.toLowerCase(), optional } : undefined;
  }
  if (optional) return undefined;
  if (root === 'secret') {
    const name = rest.slice(1);
    return rest.startsWith('.') && secretNamePattern.test(name) ? { root, name } : undefined;
  }
  const plain = plainNames.find(name => name === root);
  return plain !== undefined && rest === '' ? { root: plain } : undefined;
}

function suggest(text: string): string {
  const [, inner = ''] = /^\$?\{*\s*(.*?)\s*\}*$/s.exec(text) ?? [];
  const named = parseReference(inner);
  if (named) return `did you mean {${inner}}?`;
  const [, path] = /^(?:\$|event)\.(.+)$/s.exec(inner) ?? [];
  const meant = suggestFieldPath(path ?? inner.replace(/^payload\.?/, ''));
  const isOfPayload = path !== undefined || inner.startsWith('payload');
  return isOfPayload && meant !== undefined ? `did you mean {payload${meant.slice(1)}}?` : knownHint;
}

/** A mistake in a template, with the path to it. */
export interface PlacedMistake extends TemplateMistake {
  readonly path: PropertyKey[];
  /** Whether the key at the path is wrong, not its value. */
  readonly atKey?: true;
}

/** Finds the mistakes in a template, which may be any value. */
export function findTemplateMistakes(template: unknown): PlacedMistake[] {
  const mistakes: PlacedMistake[] = [];
  let references = 0;
  const look = (value: unknown, path: PropertyKey[]) => {
    if (typeof value === 'string') {
      const parsed = parseTemplateText(value);
      if ('message' in parsed) mistakes.push({ ...parsed, path });
      if ('reference' in parsed) references++;
    } else if (Array.isArray(value))
      for (const [index, inner] of value.entries()) look(inner, [...path, index]);
    else if (typeof value === 'object' && value !== null) lookAtObject(value, path);
    else if (typeof value === 'number' && !Number.isFinite(value))
      mistakes.push({ path, message: 'JSON has no such number', hint: 'write it as a text' });
  };
  const lookAtObject = (object: object, path: PropertyKey[]) => {
    for (const [key, inner] of Object.entries(object)) {
      // YAML reads {run} without quotes as an object.
      if (inner === null && parseReference(key))
        mistakes.push({ path, message: 'a value needs quotes', hint: `write "{${key}}"` });
      else if (/^\{.*\}$/s.test(key))
        mistakes.push({
          ...{ path: [...path, key], atKey: true },
          ...{
            message: 'a key cannot be a value from elsewhere',
            hint: 'write the key as the receiver names it',
          },
        });
      else look(inner, [...path, key]);
    }
  };
  look(template, []);
  if (references > referencesMax)
    mistakes.push({
      path: [],
      message: `a template has at most ${referencesMax} values`,
      hint: 'send {payload}',
    });
  return mistakes;
}

/** Lists the names of the team secrets that a template takes. */
export function listTemplateSecrets(template: unknown): string[] {
  if (typeof template === 'string') {
    const parsed = parseTemplateText(template);
    return 'reference' in parsed && parsed.reference.root === 'secret' ? [parsed.reference.name] : [];
  }
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap(listTemplateSecrets);
}

/** A part of a body: text, bytes, or the content of a file that is read while it is sent. */
export type BodyPart = string | Blob | Uint8Array<ArrayBuffer>;

/** The values that a template can refer to. */
export interface TemplateValues {
  /** The text of the payload, which must be JSON. */
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: string;
  /** The JSON of all payloads that the run has gathered. */
  readonly payloads: () => Promise<readonly BodyPart[]>;
  readonly secrets: ReadonlyMap<string, string>;
  readonly plain: Readonly<
    Record<'run' | 'delivery' | 'webhook' | 'automation' | 'factory' | 'attempt', string | number>
  >;
}

/** The reason why a template cannot be filled in. It names paths, never values. */
export class TemplateFailure extends Error {}

/**
 * Fills in a template, as parts of a JSON text. A value of the payload is copied as it stands there, with all digits of
 * its numbers. Fails with TemplateFailure if a value is missing.
 */
export async function renderTemplate(template: unknown, values: TemplateValues): Promise<BodyPart[]> {
  const parts: BodyPart[] = [];
  let chars = 0;
  const add = (...more: readonly BodyPart[]) => {
    for (const part of more) {
      chars += typeof part === 'string' ? part.length : 0;
      parts.push(part);
    }
    if (chars > bodyCharsMax) throw new TemplateFailure('the template makes a body of more than 64 MiB');
  };
  const findInPayload = createTextFinder(values.payload);
  const fill = async (value: unknown): Promise<void> => {
    if (Array.isArray(value)) await fillAll(value, '[', ']', inner => fill(inner));
    else if (typeof value === 'object' && value !== null)
      await fillAll(Object.entries(value), '{', '}', ([key, inner]) => {
        add(`${JSON.stringify(key)}:`);
        return fill(inner);
      });
    else if (typeof value !== 'string') add(JSON.stringify(value));
    else {
      const parsed = parseTemplateText(value);
      if ('reference' in parsed) add(...(await resolve(parsed.reference, values, findInPayload)));
      else add(JSON.stringify('text' in parsed ? parsed.text : value));
    }
  };
  const fillAll = async <T>(
    list: readonly T[],
    open: string,
    close: string,
    fillOne: (one: T) => Promise<void>,
  ) => {
    add(open);
    for (const [index, one] of list.entries()) {
      if (index > 0) add(',');
      await fillOne(one);
    }
    add(close);
  };
  await fill(template);
  return parts;
}

async function resolve(
  reference: Reference,
  values: TemplateValues,
  findInPayload: (path: FieldPath) => string | undefined,
): Promise<readonly BodyPart[]> {
  switch (reference.root) {
    case 'payload': {
      const { path, optional } = reference;
      const text = findInPayload(path);
      if (text !== undefined) return [text];
      if (optional) return ['null'];
      const where = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
      throw new TemplateFailure(
        `the payload has no ${where.slice(1)}, which the template of the runner names; with ? after the path, it would be null`,
      );
    }
    case 'headers': {
      const { name, optional } = reference;
      if (name === undefined) return [JSON.stringify(values.headers)];
      if (Object.hasOwn(values.headers, name)) return [JSON.stringify(values.headers[name])];
      if (optional) return ['null'];
      throw new TemplateFailure(
        `the delivery has no kept header ${name}, which the template of the runner names; with ? after the name, it would be null`,
      );
    }
    case 'secret':
      return [JSON.stringify(values.secrets.get(reference.name))];
    case 'payloads':
      return values.payloads();
    case 'payloadText':
      return [JSON.stringify(values.payload)];
    case 'message':
      return [JSON.stringify(values.message)];
    case 'messageWithPayload':
      return [JSON.stringify(`${values.message}\n---\n\nevent-payload.json:\n\n${values.payload}`)];
    default:
      return [JSON.stringify(values.plain[reference.root])];
  }
}
