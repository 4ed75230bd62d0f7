import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/** An OpenAPI 3.0 description that requests and answers are checked against. */
export interface ApiDescription {
  /** The operation of a path below the API's address, or none if the description does not have it. */
  find(method: string, path: string): DescribedOperation | undefined;
}

export interface DescribedOperation {
  readonly id: string;
  /** The path's parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What of a request the description does not allow. A body that is undefined was not sent. */
  checkRequest(query: URLSearchParams, body: unknown): readonly string[];
  /** What of an answer the description does not allow. */
  checkAnswer(status: number, body: unknown): readonly string[];
}

type Schema = Readonly<Record<string, unknown>>;

interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

type Check = (what: string, schema: Schema, value: unknown) => readonly string[];

const folder = join(import.meta.dirname, '../../fixtures/senders');

/** Reads a description of `test/fixtures/senders/`. No object may have a field that it does not name. */
export function readApiDescription(name: 'github' | 'gitlab'): ApiDescription {
  const document = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  const resolved = resolve(document.paths, document) as Record<string, Record<string, Operation>>;
  const routes = Object.entries(resolved).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      operation,
    })),
  );
  const check = createCheck();
  return {
    find: (method, path) => {
      for (const route of routes) {
        const groups = route.method === method ? route.pattern.exec(path)?.groups : undefined;
        if (groups || (route.method === method && route.pattern.test(path)))
          return describe(route.operation, decodeAll(groups ?? {}), check);
      }
      return undefined;
    },
  };
}

function describe(
  operation: Operation,
  parameters: Readonly<Record<string, string>>,
  check: Check,
): DescribedOperation {
  return {
    id: operation.operationId,
    parameters,
    checkRequest: (query, body) => [
      ...checkParameters(operation.parameters ?? [], parameters, query, check),
      ...checkBody(operation.requestBody, body, check),
    ],
    checkAnswer: (status, body) => {
      const response = operation.responses[status];
      // The descriptions leave out most errors.
      if (!response) return status >= 400 ? [] : [`the answer ${status} is not described`];
      const schema = response.content?.['application/json']?.schema;
      if (schema) return check(`the answer ${status}`, schema, body);
      return body === undefined ? [] : [`the answer ${status} has a body that is not described`];
    },
  };
}

function checkParameters(
  described: readonly Parameter[],
  inPath: Readonly<Record<string, string>>,
  query: URLSearchParams,
  check: Check,
): readonly string[] {
  const places = Object.groupBy(described, ({ in: place }) => place);
  const known = new Set(places.query?.map(({ name }) => name));
  const unknown = [...new Set(query.keys())].filter(name => !known.has(name));
  const repeated = [...known].filter(name => query.getAll(name).length > 1);
  return [
    ...unknown.map(name => `the query parameter ${name} is not described`),
    ...repeated.map(name => `the query parameter ${name} is repeated`),
    ...(places.path ?? []).flatMap(({ name, schema }) =>
      check(`the path's ${name}`, schema, readText(inPath[name] ?? '', schema)),
    ),
    ...(places.query ?? []).flatMap(({ name, schema }) => {
      const text = query.get(name);
      return text === null ? [] : check(`the query parameter ${name}`, schema, readText(text, schema));
    }),
  ];
}

function checkBody(described: Operation['requestBody'], body: unknown, check: Check): readonly string[] {
  if (body === undefined) return described?.required ? ['the body is missing'] : [];
  const schema = described?.content?.['application/json']?.schema;
  return schema ? check('the body', schema, body) : ['the body is not described'];
}

/** A number if the parameter is one. An ID may have more digits than a number can hold, which the check does not need. */
function readText(text: string, { type }: Schema): unknown {
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

function decodeAll(groups: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
}

function createCheck(): Check {
  // OpenAPI 3.0 has words that JSON Schema does not know.
  const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }));
  return (what, schema, value) => {
    // It compiles each schema once: it knows it by identity.
    const validate = ajv.compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const field = params.additionalProperty ? ` (${params.additionalProperty})` : '';
      return `${what}${instancePath} ${message}${field}`;
    });
  };
}

/** Puts what a reference names in its place, and closes each object that says nothing of other fields. */
function resolve(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) return part.map(item => resolve(item, document));
  if (typeof part !== 'object' || part === null) return part;
  if ('$ref' in part) return resolve(follow(String(part.$ref), document), document);
  const resolved = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, resolve(value, document)]),
  );
  const isOpen = resolved.type === 'object' && 'properties' in resolved;
  return isOpen ? { additionalProperties: false, ...resolved } : resolved;
}

function follow(reference: string, document: unknown): unknown {
  const keys = reference.replace(/^#\//, '').split('/');
  return keys.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], document);
}
