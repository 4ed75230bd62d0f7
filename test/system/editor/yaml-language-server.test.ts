import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { parseAutomation } from '../../../schema/definitions/parse-automation.ts';
import { parseWorkspace } from '../../../schema/definitions/parse-file.ts';
import { parseWebhook } from '../../../schema/definitions/parse-webhook.ts';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import { schemeIds } from '../../../signatures/schemes.ts';
import {
  type LanguageServer,
  type LspDiagnostic,
  startLanguageServer,
} from '../../support/language-server.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const prompts = new Map([['prompts/triage.md', Buffer.from('Look.\n')]]);

const kinds = {
  webhook: text => parseWebhook('a', 'a.yaml', Buffer.from(text)).diagnostics,
  automation: text => parseAutomation('a', 'a.yaml', Buffer.from(text), prompts).diagnostics,
  workspace: text => parseWorkspace('a.yaml', Buffer.from(text)).diagnostics,
  daemon: text => parseSettings('a.yaml', Buffer.from(text)).diagnostics,
} satisfies Record<string, (text: string) => readonly Diagnostic[]>;

type Kind = keyof typeof kinds;

const workspace = makeWorkspace();
let editor: LanguageServer;
let documents = 0;

beforeAll(async () => {
  for (const kind of Object.keys(kinds)) {
    const { stdout } = await workspace.hookmill('schema', kind);
    workspace.write(`${kind}.schema.json`, stdout);
  }
  editor = await startLanguageServer(workspace.directory);
});
afterAll(() => editor.stop());

/** Opens the text with its modeline. `|` marks the cursor and is not part of the text. */
async function open(kind: Kind, marked: string) {
  const text = `# yaml-language-server: $schema=./${kind}.schema.json\n${marked}`;
  const before = text.slice(0, text.indexOf('|'));
  const position = {
    line: before.split('\n').length - 1,
    character: before.length - before.lastIndexOf('\n') - 1,
  };
  const path = join(workspace.directory, `${documents++}.yaml`);
  const plain = text.replace('|', '');
  return { path, text: plain, position, diagnostics: await editor.open(path, plain) };
}

async function completions(kind: Kind, marked: string): Promise<readonly string[]> {
  const { path, position } = await open(kind, marked);
  return editor.complete(path, position);
}

async function explanation(kind: Kind, marked: string): Promise<string> {
  const { path, position } = await open(kind, marked);
  return editor.hover(path, position);
}

describe('completion offers', () => {
  test.for([
    [
      'the keys of a webhook',
      'webhook',
      '|',
      ['authMode', 'signatureScheme', 'secretName', 'deliveryIdHeader', 'enabled'],
    ],
    ['the auth modes', 'webhook', 'authMode: |', ['token', 'url_token', 'signature']],
    ['the ids of every scheme', 'webhook', 'authMode: signature\nsignatureScheme: |', schemeIds],
    [
      'the keys of a described HMAC',
      'webhook',
      'signatureScheme:\n  header: X-S\n  |',
      ['hash', 'encoding', 'content'],
    ],
    ['the keys of an automation', 'automation', '|', ['prompt', 'promptFile', 'triggers', 'enabled']],
    ['the keys of a trigger', 'automation', 'triggers:\n  - provider: webhook\n    |', ['event', 'filter']],
    [
      'the keys of a selection',
      'automation',
      'triggers:\n  - filter:\n      |',
      ['webhook', 'webhook_ids', 'payload', 'headers'],
    ],
    [
      'the operators of a filter',
      'automation',
      'triggers:\n  - filter:\n      payload:\n        level: |',
      ['in', 'not_in', 'exists', '$like', '$not_like', '$compare', '$none'],
    ],
    ['the keys of hookmill.yaml', 'workspace', '|', ['factory', 'baseUrl']],
    ['the keys of the daemon', 'daemon', '|', ['port', 'baseUrl', 'limits', 'retention', 'runs']],
    ['the kinds of runner', 'daemon', 'runs:\n  runner:\n    kind: |', ['directory', 'command', 'http']],
  ] as const)('%s', async ([_, kind, marked, expected]) => {
    expect(await completions(kind, marked)).toEqual(expect.arrayContaining([...expected]));
  });
});

describe('hover explains', () => {
  test.for([
    ['a key', 'webhook', 'secret|Name: A', 'The team secret that holds the credential.'],
    ['a default', 'daemon', 'por|t: 80', 'Port of the ingress'],
    ['an example', 'webhook', 'deliveryId|Header: X', 'X-Event-Id'],
    ['a value', 'webhook', 'authMode: url_to|ken', 'The secret is the last segment of the ingress URL.'],
    ['the provider of a scheme', 'webhook', 'signatureScheme: git|hub', 'GitHub'],
    [
      'a key of a trigger',
      'automation',
      'triggers:\n  - filter:\n      webhook_|ids: []',
      'The UID of exactly one webhook, instead of its name.',
    ],
    [
      'a field of a filter',
      'automation',
      'triggers:\n  - filter:\n      payload:\n        act|ion: []',
      'A list of allowed values',
    ],
    ['a limit', 'daemon', 'limits:\n  body|Bytes: 1', 'Maximum size of a request body, in bytes.'],
  ] as const)('%s', async ([_, kind, marked, expected]) => {
    expect(await explanation(kind, marked)).toContain(expected);
  });
});

const trigger = (filter: string) =>
  `prompt: x\ntriggers:\n  - provider: webhook\n    event: received\n    filter: ${filter}\n`;
const uid = 'wh_0123456789abcdefghijklmn';

describe('a mistake is marked where our own diagnostic marks it:', () => {
  test.for([
    ['an auth mode', 'webhook', 'secretName: A\nauthMode: basic\n'],
    ['a scheme', 'webhook', 'secretName: A\nauthMode: signature\nsignatureScheme: strip\n'],
    ['a string for a boolean', 'webhook', 'secretName: A\nenabled: yes\n'],
    ['a number for a string', 'webhook', 'secretName: 12\n'],
    ['a name with a space', 'webhook', 'secretName: A B\n'],
    ['a header with a colon', 'webhook', 'secretName: A\ndeliveryIdHeader: "X-Id:"\n'],
    ['an unknown key', 'webhook', 'secretName: A\nenabld: true\n'],
    ['a scheme in a token mode', 'webhook', 'signatureScheme: github\nsecretName: A\n'],
    [
      'a hash',
      'webhook',
      'secretName: A\nauthMode: signature\nsignatureScheme: { header: X, hash: md5, encoding: hex, content: "{body}" }\n',
    ],
    ['an event', 'automation', trigger(`{ webhook_ids: [${uid}] }`).replace('received', 'recieved')],
    ['a name for a UID', 'automation', trigger('{ webhook_ids: [deploys] }')],
    ['no UID', 'automation', trigger('{ webhook_ids: [] }')],
    ['a UID for a name', 'automation', trigger(`{ webhook: ${uid} }`)],
    ['two UIDs', 'automation', trigger(`{ webhook_ids: [${uid}, ${uid}] }`)],
    [
      'a bare value in a filter',
      'automation',
      trigger(`{ webhook_ids: [${uid}], payload: { action: failed } }`),
    ],
    [
      'a bare value in a nested filter',
      'automation',
      trigger(`{ webhook_ids: [${uid}], payload: { a: { b: { c: 1 } } } }`),
    ],
    [
      'a text for a bound',
      'automation',
      trigger(`{ webhook_ids: [${uid}], payload: { a: { $compare: { at_least: many } } } }`),
    ],
    [
      'the path of a prompt file',
      'automation',
      trigger('{ webhook: deploys }').replace('prompt: x', 'promptFile: ../x.md'),
    ],
    ['a factory', 'workspace', 'factory: Payments\n'],
    ['a URL', 'workspace', 'baseUrl: ftp://example.com\n'],
    ['a port', 'daemon', 'port: 70000\n'],
    ['a log level', 'daemon', 'logLevel: verbose\n'],
    ['a runner', 'daemon', 'runs:\n  runner: { kind: shell }\n'],
  ] as const)('%s', async ([_, kind, marked]) => {
    const { text, diagnostics } = await open(kind, marked);
    const ours = kinds[kind](text);
    expect(ours).toHaveLength(1);
    expect(diagnostics.map(place)).toEqual(ours.map(({ range }) => range));
  });

  test.for([
    ['webhook', 'authMode: signature\nsignatureScheme: stripe\nsecretName: STRIPE\nenabled: false\n'],
    [
      'webhook',
      'secretName: A\nauthMode: signature\nsignatureScheme: { header: X, hash: sha256, encoding: hex, content: "{body}" }\n',
    ],
    [
      'automation',
      trigger(
        `{ webhook_ids: [${uid}], payload: { a: [1, null], b: { in: [x] }, c: { d: { exists: false } } } }`,
      ),
    ],
    [
      'automation',
      trigger(
        `{ webhook_ids: [${uid}], payload: { a: { $like: ['v*'] }, b: { $not_like: ['x*'] }, c: { $compare: { above: 1, at_most: 2 } } }, headers: { X-A: { $like: ['v*'] }, X-B: { $compare: { below: 0 } } } }`,
      ),
    ],
    ['automation', trigger('{ webhook: deploys }')],
    ['automation', trigger('{ webhook: deploys }').replace('prompt: x', 'promptFile: prompts/triage.md')],
    ['workspace', 'factory: payments\nbaseUrl: https://hooks.example.com\n'],
    [
      'daemon',
      'port: 80\nlimits: { bodyBytes: 1000 }\nruns: { runner: { kind: command, argv: [/bin/true] } }\n',
    ],
  ] as const)('none in a valid %s', async ([kind, text]) => {
    expect(kinds[kind](text)).toEqual([]);
    expect((await open(kind, text)).diagnostics).toEqual([]);
  });
});

function place({ range: { start, end } }: LspDiagnostic) {
  const counted = ({ line, character }: typeof start) => ({ line: line + 1, column: character + 1 });
  return { start: counted(start), end: counted(end) };
}
