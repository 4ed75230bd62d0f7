import { expect, test } from 'vitest';
import {
  findTemplateMistakes,
  renderTemplate,
  TemplateFailure,
} from '../../../../../daemon/runs/runners/http-template.ts';

const hostile = '"}, "admin": true, "x": "{secret.TOKEN}{payload.id}\\';
const payload = `{
  "id": 9007199254740993, "price": 1.10, "title": ${JSON.stringify(hostile)}, "empty": null,
  "odd name": [{"a": 1}], "__proto__": {"admin": true}, "twice": 1, "twice": 2
}`;

function render(template: object, headers: Record<string, string> = { 'x-event': 'push' }): Promise<string> {
  const plain = { run: 'run_1', delivery: 'dlv_1', webhook: 'w', automation: 'a', factory: 'f', attempt: 2 };
  const secrets = new Map([['TOKEN', 'it"s']]);
  const payloads = async () => ['[1,', new Blob(['2]'])];
  const values = { payload, headers, message: 'Act.\n', payloads, secrets, plain };
  return renderTemplate(template, values).then(parts => new Blob(parts).text());
}

test.each([
  ['{run}', '"run_1"'],
  ['{attempt}', '2'],
  ['{message}', '"Act.\\n"'],
  ['{payload.id}', '9007199254740993'],
  ['{payload.price}', '1.10'],
  ['{payload.title}', JSON.stringify(hostile)],
  ['{payload.empty}', 'null'],
  ['{payload["odd name"][0].a}', '1'],
  ['{payload.__proto__.admin}', 'true'],
  ['{payload.twice}', '2'],
  ['{payload}', payload],
  ['{payloadText}', JSON.stringify(payload)],
  ['{messageWithPayload}', JSON.stringify(`Act.\n\n---\n\nevent-payload.json:\n\n${payload}`)],
  ['{payloads}', '[1,2]'],
  ['{headers}', '{"x-event":"push"}'],
  ['{headers.X-Event}', '"push"'],
  ['{headers.x-none?}', 'null'],
  ['{payload.none.deeper?}', 'null'],
  ['{secret.TOKEN}', '"it\\"s"'],
  ['\\{run\\}', '"{run}"'],
  ['say \\{run\\} \\\\{', '"say {run} \\\\{"'],
  ['plain \\ text', '"plain \\\\ text"'],
])('the text %s becomes %s', async (text, expected) => {
  expect(await render({ at: text })).toBe(`{"at":${expected}}`);
});

test('a value takes the place of a whole text, and what it contains stays data', async () => {
  const template = { 'a"b': [true, null, 1.5, {}, [], { title: '{payload.title}', id: '{payload.id}' }] };
  const text = await render(template);
  expect(JSON.parse(text)).toEqual({
    'a"b': [true, null, 1.5, {}, [], { title: hostile, id: Number('9007199254740993') }],
  });
  expect(text).toContain('"id":9007199254740993}');
});

test.each([
  ['{payload.none}', 'the payload has no none, which the template of the runner names'],
  ['{payload.id.deeper}', 'the payload has no id.deeper, which the template'],
  ['{payload.constructor}', 'the payload has no constructor'],
  ['{headers.x-none}', 'the delivery has no kept header x-none, which the template'],
  ['{headers.constructor}', 'the delivery has no kept header constructor'],
])('the value %s is missing, and the reason says where and quotes nothing', async (text, reason) => {
  const failure = await render({ at: text }).catch((error: Error) => error);
  expect(failure).toBeInstanceOf(TemplateFailure);
  expect((failure as Error).message).toContain(reason);
  expect((failure as Error).message).not.toContain('9007199254740993');
});

test('a body of more than 64 MiB is not made', async () => {
  const large = 'x'.repeat(40 * 1024 * 1024);
  await expect(render({ a: '{headers.a}', b: '{headers.a}' }, { a: large })).rejects.toThrow(
    'the template makes a body of more than 64 MiB',
  );
});

const nowhere = 'a template inserts nothing into a longer text';
const known = /^known are payload, headers, secret, message, .* write \\\{ and \\\} for braces/;

test.each([
  ['Issue {payload.id}', nowhere, /^a value takes the place of a whole text.*\\\{ and \\\}/],
  ['{run}{attempt}', nowhere, /whole text/],
  ['{', nowhere, /whole text/],
  ['a}', nowhere, /whole text/],
  ['{run\\}', nowhere, /whole text/],
  ['{{payload.id}}', 'a template has one pair of braces around a value', /^did you mean {payload\.id}\?$/],
  [
    '$' + '{{ event.id }}',
    'a template has one pair of braces around a value',
    /^did you mean {payload\.id}\?$/,
  ],
  [
    '{payload.odd-name}',
    'a template has no value {payload.odd-name}',
    /^did you mean {payload\["odd-name"\]}\?$/,
  ],
  ['{$.id}', 'a template has no value {$.id}', /^did you mean {payload\.id}\?$/],
  ['{ run }', 'a template has no value { run }', /^did you mean {run}\?$/],
  ['{prompt}', 'a template has no value {prompt}', known],
  ['{run.id}', 'a template has no value {run.id}', known],
  ['{run?}', 'a template has no value {run?}', known],
  ['{secret}', 'a template has no value {secret}', known],
  ['{secret.a b}', 'a template has no value {secret.a b}', known],
  ['{headers["x"]}', 'a template has no value {headers["x"]}', known],
  ['{}', 'a template has no value {}', known],
] as const)('%s is a mistake', (text, message, hint) => {
  expect(findTemplateMistakes({ list: [text] })).toEqual([
    { path: ['list', 0], message, hint: expect.stringMatching(hint) },
  ]);
});

test('an unquoted value, a key with braces, numbers that JSON does not have, and too many values are mistakes', () => {
  expect(findTemplateMistakes({ id: { 'payload.id': null }, no: { other: null } })).toEqual([
    { path: ['id'], message: 'a value needs quotes', hint: 'write "{payload.id}"' },
  ]);
  expect(findTemplateMistakes({ '{run}': 1 })).toMatchObject([{ path: ['{run}'], atKey: true }]);
  expect(findTemplateMistakes({ a: Number.NaN })).toMatchObject([{ path: ['a'] }]);
  expect(findTemplateMistakes({ a: Array(201).fill('{run}') })).toMatchObject([{ path: [] }]);
  expect(findTemplateMistakes({ a: Array(200).fill('{run}'), b: [null, true, 1, 'text'] })).toEqual([]);
});
