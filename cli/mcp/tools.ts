import { z } from 'zod';
import type { CallOperation, CallParts } from '../../schema/api/call.ts';
import type { ApiAnswer, ApiRoute } from '../../schema/api/route.ts';
import { type ApiRoutes, apiRoutes, type CallableId } from '../../schema/api/routes.ts';
import { hasErrors } from '../../schema/diagnostics.ts';
import { hasOutside, mapOutside } from '../../schema/views/outside.ts';
import { renderExampleDefinition } from '../../signatures/reference.ts';
import { describeUnknownScheme } from '../describe-error.ts';
import { CommandError } from '../exit-status.ts';
import { quoteOutput, quotePayload, quoteWords } from './untrusted.ts';

/** The operations that an agent may ask: none of them changes anything. */
type AskedId = {
  [Id in CallableId]: ApiRoutes[Id]['permission'] extends 'manage' ? never : Id;
}[CallableId];

/** The arguments that tools have besides the keys of their operation's request. */
const ownArguments = {
  payload: z
    .boolean()
    .default(false)
    .describe('Also shows the payload: at most 16 KiB, without anything that looks like a credential.'),
  output: z
    .boolean()
    .default(false)
    .describe(
      'Also shows the end of the output: at most 16 KiB, without anything that looks like a credential.',
    ),
  scheme: z.string().describe('The ID of the signature scheme, such as `stripe`.'),
};
type OwnArguments = { readonly [Name in keyof typeof ownArguments]?: z.output<(typeof ownArguments)[Name]> };

/** A question that an agent can ask: the operation that answers it, and how the tool differs from that. */
export interface Tool {
  readonly title: string;
  /** What an agent should know besides the summary of the operation. */
  readonly note: string;
  readonly operation: AskedId;
  /** The shape of the arguments: the parameters, query and body of the operation, and the tool's own ones. */
  readonly shape: z.ZodObject;
  /** Whether the answer quotes text from senders or runs. */
  readonly quotesOthers: boolean;
  /** Asks the operation with arguments that have the shape. Fails as the operation does. */
  ask(call: CallOperation, given: Readonly<Record<string, unknown>>): Promise<unknown>;
}

interface Differences<Id extends AskedId> {
  readonly note?: string;
  /** Keys of the request that the tool does not offer. */
  readonly without?: readonly string[];
  readonly own?: readonly (keyof typeof ownArguments)[];
  /** Completes the request. */
  readonly request?: (parts: CallParts<Id>, call: CallOperation) => CallParts<Id> | Promise<CallParts<Id>>;
  /** Makes the tool's answer of the operation's with quoted texts, by the tool's own arguments, the request and the raw answer. */
  readonly show?: (
    answer: ApiAnswer<ApiRoutes[Id], Uint8Array>,
    own: OwnArguments,
    asked: {
      readonly call: CallOperation;
      readonly parts: CallParts<Id>;
      readonly raw: ApiAnswer<ApiRoutes[Id], Uint8Array>;
    },
  ) => unknown;
}

/** Every tool of `hookmill mcp`. What is not here, an agent cannot reach. */
export const tools: Readonly<Record<string, Tool>> = {
  why: makeTool('explainWhy', 'Why did it not fire?', {
    note: 'Start here. `cause` is the step that is wrong, and its `remedy` the next step.',
    own: ['output'],
    show: ({ steps, ...why }, { output }, { raw }) => ({
      ...why,
      steps: steps.map(({ lines, ...step }, index) => {
        if (step.step !== 'runs') return { ...step, lines };
        const ended = raw.steps[index]?.lines.join('\n') ?? '';
        return { ...step, ...(output && { output: quoteOutput(Buffer.from(ended)) }) };
      }),
    }),
  }),
  show_status: makeTool('showStatus', 'State of the factory', {
    note: 'If the factory follows a branch, `reconcile` says why its newest commit is not applied.',
  }),
  list_webhooks: makeTool('listWebhooks', 'Webhooks'),
  list_automations: makeTool('listAutomations', 'Automations'),
  show_automation: makeTool('showAutomation', 'One automation', { note: '`yaml` is its definition file.' }),
  list_deliveries: makeTool('listDeliveries', 'Deliveries', {
    without: ['summary'],
    request: withSummary,
    show: ({ deliveries, ...end }) => ({
      deliveries: deliveries.map(({ summary, ...delivery }) => {
        const { preview: _, ...titles } = summary ?? { preview: null };
        return { ...delivery, summary: titles };
      }),
      ...end,
    }),
  }),
  show_delivery: makeTool('showDelivery', 'One delivery', {
    note: 'Without `payload: true`, the payload is left out.',
    own: ['payload'],
    show: ({ payload: _, ...delivery }, { payload }, { raw }) => ({
      ...delivery,
      ...(payload && { payload: raw.payload === null ? null : quotePayload(raw.payload) }),
    }),
  }),
  describe_payloads: makeTool('describePayloads', 'What a webhook receives', {
    note: '`uid` may also be the name of the webhook. Read this before you write a filter.',
  }),
  test_filter: makeTool('testOnStored', 'Test a filter', {
    note: 'Give either `automation` or `triggers`. Nothing is started or changed.',
    // Its shape is as long as those of all other tools, and `triggers` are all of it that counts.
    without: ['draft'],
  }),
  list_runs: makeTool('listRuns', 'Runs', { without: ['summary'], request: withSummary }),
  show_run: makeTool('showRun', 'One run', {
    note: 'Without `output: true`, the output is left out.',
    own: ['output'],
    show: async (run, { output }, { call, parts: { params } }) => {
      if (!output || !params) return run;
      return { ...run, output: quoteOutput(await call('showRunOutput', { params })) };
    },
  }),
  list_alerts: makeTool('listAlerts', 'Alerts'),
  list_schemes: makeTool('listSchemes', 'Signature schemes', {
    note: 'Only their IDs and providers; `show_scheme` shows one.',
    without: ['id'],
    show: ({ schemes }) => schemes.map(({ id, provider, kind }) => ({ id, provider, kind })),
  }),
  show_scheme: makeTool('listSchemes', 'One signature scheme', {
    note: 'Shows only one, with an example of a definition.',
    // An unknown one is refused with those that are similar, so all are read.
    without: ['id'],
    own: ['scheme'],
    show: ({ schemes }, { scheme: id = '' }) => {
      const scheme = schemes.find(scheme => scheme.id === id);
      const ids = schemes.map(({ id }) => id);
      if (!scheme) throw new CommandError(describeUnknownScheme(id, ids));
      return { ...scheme, example: renderExampleDefinition(id) };
    },
  }),
  validate_definitions: makeTool('plan', 'Validate definitions', {
    note: 'Only the mistakes in the given files, as `hookmill validate` reports them, with what the applied state knows. Nothing is changed.',
    without: ['impact', 'findings'],
    request: (parts, call) => addToApplied(parts, call, false),
    show: ({ diagnostics }, _, { parts }) => {
      const found = diagnostics.filter(({ file }) => parts.body?.files.some(({ path }) => path === file));
      return { valid: !hasErrors(found), diagnostics: found };
    },
  }),
  plan_definitions: makeTool('plan', 'Plan definitions', {
    note: 'The given files are added to what is applied, or replace files of it; nothing is removed. Files with errors are left out. Nothing is changed.',
    without: ['impact', 'findings'],
    request: (parts, call) => addToApplied(parts, call, true),
  }),
};

function makeTool<Id extends AskedId>(operation: Id, title: string, differences: Differences<Id> = {}): Tool {
  const { note = '', without = [], own = [], request, show } = differences;
  const route: ApiRoute = apiRoutes[operation];
  const answerShape = route.answer.shape;
  if (!answerShape)
    throw new Error(`the answer of ${operation} has no shape, so no text in it can be quoted`);
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => name);
  const params = makeShape(
    names.filter(name => name !== 'factory'),
    () => z.string(),
  );
  const query = leaveOut(route.query?.shape ?? {}, without);
  // The rules about several keys are checked by the operation.
  const body = leaveOut(route.body instanceof z.ZodObject ? route.body.shape : {}, without);
  const ask: Tool['ask'] = async (call, given) => {
    const asText = (value: unknown) => String(value);
    const parts = {
      params: pick(params, given, asText),
      query: pick(query, given, asText),
      ...(route.body && { body: pick(body, given) }),
    } as CallParts<Id>;
    const completed = request ? await request(parts, call) : parts;
    const raw = await call(operation, completed);
    const answer = mapOutside(answerShape, raw, quoteWords) as typeof raw;
    return show ? show(answer, given, { call, parts, raw }) : answer;
  };
  const shape = z.strictObject({
    ...params,
    ...query,
    ...body,
    ...makeShape(own, name => ownArguments[name]),
  });
  return { title, note, operation, shape, quotesOthers: hasOutside(answerShape), ask };
}

function makeShape<Name extends string>(names: readonly Name[], make: (name: Name) => z.ZodType) {
  return Object.fromEntries(names.map(name => [name, make(name)]));
}

function leaveOut(shape: z.core.$ZodShape, names: readonly string[]) {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)));
}

/** The arguments that the shape has, converted. */
function pick(shape: object, given: Readonly<Record<string, unknown>>, convert = (value: unknown) => value) {
  const own = Object.entries(given).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(own.map(([name, value]) => [name, convert(value)]));
}

function withSummary<Id extends 'listDeliveries' | 'listRuns'>(parts: CallParts<Id>): CallParts<Id> {
  return { ...parts, query: { ...parts.query, summary: 'true' } };
}

/** Adds the given files to those of the applied state: a plan of fewer files would destroy what they do not define. */
async function addToApplied(
  parts: CallParts<'plan'>,
  call: CallOperation,
  impact: boolean,
): Promise<CallParts<'plan'>> {
  const given = parts.body?.files ?? [];
  const { files } = await call('exportDefinitions');
  const others = files.filter(({ path }) => given.every(file => file.path !== path));
  return { body: { files: [...others, ...given], impact, findings: [] } };
}
