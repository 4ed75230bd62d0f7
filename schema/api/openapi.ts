import { z } from 'zod';
import { payloadFilterSchema } from '../filters/payload-filter.ts';
import * as shapes from './answers.ts';
import { apiProblems } from './problems.ts';
import * as requests from './requests.ts';
import { type ApiRoute, apiPrefix, apiRoutes, type OperationId } from './routes.ts';

/** The management API as an OpenAPI 3.1 document, made of the shapes that requests and answers are checked with. */
export function openApiDocument(): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: { title: 'hookmill management API', version: '1', description },
    servers: [{ url: apiPrefix }],
    security: [{ token: [] }, { session: [] }],
    paths: paths(),
    components: {
      schemas: schemas(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token: `hookmill tokens create`.' },
        session: { type: 'apiKey', in: 'cookie', name: 'hookmill_session' },
      },
    },
  };
}

const description =
  `Answers are JSON, problems RFC 9457 with a \`code\`. Each operation names what its caller needs:
nothing, any token, or one that may \`read\` or \`manage\` the factory. Changes to a factory take the \`ETag\` of an
answer back in \`If-Match\` and fail with \`serial-moved\` if another change came between; without it they are made
to whatever is in force. Writes of a session need the header \`X-Hookmill-Request: 1\`.`.replaceAll(
    '\n',
    ' ',
  );

/** Every shape with a name of its own, by that name. */
const components = z.registry<{ id: string }>();
for (const [exported, shape] of [...Object.entries(shapes), ...Object.entries(requests)]) {
  if (shape instanceof z.ZodType) components.add(shape, { id: componentName(exported) });
}

function componentName(exported: string): string {
  const name = exported.replace(/Shape$/, '');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function schemas(): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(components, {
    ...jsonSchemaOptions,
    uri: id => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => !name.endsWith('Query'))
      .map(([name, { $schema, $id, ...schema }]) => [name, schema]),
  );
}

// What editors of definition files are told beside the schema.
const forEditors = ['definitions', 'defaultSnippets', 'enumDescriptions', 'errorMessage'];

const jsonSchemaOptions: z.core.ToJSONSchemaParams = {
  io: 'input',
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => {
    if (Object.is(zodSchema, payloadFilterSchema)) {
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      Object.assign(jsonSchema, payloadFilter);
    }
    for (const key of forEditors) delete jsonSchema[key as keyof typeof jsonSchema];
  },
};

const payloadFilter = {
  type: 'object',
  description: 'A payload filter: an object that mirrors the payload, see docs/payload-filters.md.',
};

function paths(): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, route] of Object.entries(apiRoutes) as [OperationId, ApiRoute][]) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(id, route) };
  }
  return paths;
}

function operation(operationId: OperationId, route: ApiRoute): Record<string, unknown> {
  const { summary, permission, body, answer, etag } = route;
  return {
    operationId,
    summary,
    'x-permission': permission,
    ...(permission === 'public' && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...ifMatch(route)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [answer.status]: {
        description: answer.status === 204 ? 'Done.' : 'What was asked for.',
        ...(etag && { headers: { ETag: { schema: { type: 'string' } } } }),
        ...(answer.shape && { content: json(answer.shape) }),
        ...(answer.mediaType && { content: { [answer.mediaType]: {} } }),
      },
      ...problemResponses(route),
    },
  };
}

function json(shape: z.ZodType): Record<string, unknown> {
  const id = components.get(shape)?.id;
  if (!id) throw new Error('a shape of the API has no name');
  return { 'application/json': { schema: { $ref: `#/components/schemas/${id}` } } };
}

function pathParameters({ path }: ApiRoute): unknown[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: ApiRoute): unknown[] {
  if (!query) return [];
  return Object.entries(query.shape).map(([name, shape]) => {
    const { $schema, description, ...schema } = z.toJSONSchema(shape, jsonSchemaOptions);
    return { name, in: 'query', required: false, ...(description && { description }), schema };
  });
}

function ifMatch({ etag, method }: ApiRoute): unknown[] {
  if (!etag || method === 'get') return [];
  return [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }];
}

function problemResponses(route: ApiRoute): Record<string, unknown> {
  const codes = [...(route.problems ?? []), ...commonProblems(route)];
  const statuses = [...new Set(codes.map(code => apiProblems[code].status))].sort();
  return Object.fromEntries(
    statuses.map(status => [
      status,
      {
        description: codes.filter(code => apiProblems[code].status === status).join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

function commonProblems({ permission, body, query, path }: ApiRoute) {
  return [
    ...(permission === 'public' ? [] : (['not-signed-in', 'token-unknown', 'session-over'] as const)),
    'host-refused' as const,
    ...(permission === 'read' || permission === 'manage' ? (['not-permitted'] as const) : []),
    ...(path.includes('{factory}') ? (['state-unreadable'] as const) : []),
    ...(body ? (['body-unreadable', 'body-too-large', 'not-json', 'cross-site'] as const) : []),
    ...(body || query ? (['request-invalid'] as const) : []),
    'unexpected' as const,
  ];
}
