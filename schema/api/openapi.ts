import { z } from 'zod';
import { payloadFilterSchema } from '../filters/payload-filter.ts';
import { sessionKeyHeader } from './conventions.ts';
import { apiProblems, tokenProblems } from './problems.ts';
import { type ApiRoute, apiPrefix } from './route.ts';

/** Renders routes as an OpenAPI 3.1 document. `shapes` has every shape that they use, by its name in the code. */
export function renderOpenApi(
  routes: Readonly<Record<string, ApiRoute>>,
  shapes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const components = nameComponents(shapes);
  return {
    openapi: '3.1.0',
    info: { title: 'hookmill management API', version: '1', description },
    servers: [{ url: apiPrefix }],
    security: [{ token: [] }, { session: [], sessionKey: [] }],
    paths: renderPaths(routes, components),
    components: {
      schemas: renderSchemas(components),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token: `hookmill tokens create`.' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: '__Host-hookmill_session' },
          description: 'Without TLS, its name is `hookmill_session_` and the port.',
        },
        sessionKey: { type: 'apiKey', in: 'header', name: sessionKeyHeader },
      },
    },
  };
}

const description =
  `Answers are JSON. Problems follow RFC 9457 and have a \`code\`. \`x-permission\` is the permission that an operation
needs: \`public\` (none), \`signed-in\` (any token or person), or \`read\` or \`manage\` on the factory. A change to a factory
may send the \`ETag\` of an answer in \`If-Match\`; it then fails with \`serial-moved\` if the factory has changed since.
Without \`If-Match\`, it changes the current state.`.replaceAll('\n', ' ');

type Components = ReturnType<typeof nameComponents>;

/** Every shape, with its name in the document. */
function nameComponents(shapes: Readonly<Record<string, unknown>>) {
  const components = z.registry<{ id: string }>();
  for (const [name, shape] of Object.entries(shapes)) {
    if (shape instanceof z.ZodType) components.add(shape, { id: toComponentName(name) });
  }
  return components;
}

function toComponentName(exported: string): string {
  const name = exported.replace(/(Answer|Shape)$/, '');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function renderSchemas(components: Components): Record<string, unknown> {
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

/** Renders the JSON Schema of what a client sends. */
export function renderInputSchema(shape: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(shape, jsonSchemaOptions);
}

// Keywords that only editors of definition files understand.
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
  description: 'A payload filter: an object that mirrors the payload. See docs/payload-filters.md.',
};

function renderPaths(
  routes: Readonly<Record<string, ApiRoute>>,
  components: Components,
): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method]: renderOperation(id, route, components) };
  }
  return paths;
}

function renderOperation(
  operationId: string,
  route: ApiRoute,
  components: Components,
): Record<string, unknown> {
  const { summary, permission, body, answer, etag } = route;
  const json = (shape: z.ZodType) => ({ 'application/json': { schema: refer(shape, components) } });
  return {
    operationId,
    summary,
    'x-permission': permission,
    ...(permission === 'public' && { security: [] }),
    parameters: [...renderPathParameters(route), ...renderQueryParameters(route), ...renderIfMatch(route)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [answer.status]: {
        description: answer.status === 204 ? 'Done; the answer has no body.' : 'Success.',
        ...(etag && { headers: { ETag: { schema: { type: 'string' } } } }),
        ...(answer.shape && { content: json(answer.shape) }),
        ...(answer.mediaType && { content: { [answer.mediaType]: {} } }),
      },
      ...renderProblems(route),
    },
  };
}

function refer(shape: z.ZodType, components: Components): Record<string, unknown> {
  const id = components.get(shape)?.id;
  if (!id) throw new Error('a route uses a shape that has no name');
  return { $ref: `#/components/schemas/${id}` };
}

function renderPathParameters({ path }: ApiRoute): unknown[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function renderQueryParameters({ query }: ApiRoute): unknown[] {
  if (!query) return [];
  return Object.entries(query.shape).map(([name, shape]) => {
    const { $schema, description, ...schema } = renderInputSchema(shape);
    return { name, in: 'query', required: false, ...(description && { description }), schema };
  });
}

function renderIfMatch({ etag, method }: ApiRoute): unknown[] {
  if (!etag || method === 'get') return [];
  return [{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }];
}

function renderProblems(route: ApiRoute): Record<string, unknown> {
  const codes = [...(route.problems ?? []), ...listCommonProblems(route)];
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

function listCommonProblems({ method, permission, body, query, path }: ApiRoute) {
  return [
    ...(permission === 'public' ? [] : (['not-signed-in', ...tokenProblems, 'session-over'] as const)),
    'host-refused' as const,
    ...(permission === 'read' || permission === 'manage' ? (['not-permitted'] as const) : []),
    ...(path.includes('{factory}') ? (['state-unreadable'] as const) : []),
    ...(body ? (['body-unreadable', 'body-too-large', 'not-json', 'cross-site'] as const) : []),
    ...(body || query ? (['request-invalid'] as const) : []),
    'takes-too-long' as const,
    ...(permission === 'manage' && method !== 'get' ? (['change-interrupted'] as const) : []),
    'requests-waiting' as const,
    'too-many-requests' as const,
    'store-unreachable' as const,
    'unexpected' as const,
  ];
}
