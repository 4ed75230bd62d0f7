import { lexer, type Token } from 'marked';
import { expect, test } from 'vitest';
import { renderPlanMarkdown } from '../../../../../cli/render/render-plan-markdown.ts';
import { type Change, summarize } from '../../../../../operations/plan/plan.ts';
import type { ChangeView, PlanView } from '../../../../../operations/views/plan-view.ts';
import type { FieldChange, WebhookImpact } from '../../../../../schema/changes/plan-shapes.ts';
import type { Diagnostic } from '../../../../../schema/diagnostics.ts';

function change(name: string, fields: readonly Omit<FieldChange, 'field'>[]): Change {
  return {
    action: 'update',
    kind: 'automation',
    name,
    fields: fields.map(one => ({ field: one.path, ...one })),
  };
}

const changes: readonly Change[] = [
  {
    action: 'create',
    kind: 'webhook',
    name: 'a',
    fields: [{ field: 'authMode', path: 'authMode', after: 'token' }],
  },
  {
    ...change('b', [{ path: 'signatureScheme', before: 'a|b', after: { header: 'X', hash: 'sha256' } }]),
    kind: 'webhook',
  },
  { action: 'delete', kind: 'webhook', name: 'c', fields: [] },
  { action: 'no-op', kind: 'webhook', name: 'd', fields: [] },
  change('e', [
    { path: 'prompt', before: 'one\ntwo\n', after: 'one\nthree\n' },
    { path: 'triggers[a].filter.payload', before: { level: ['x'] } },
  ]),
];

const nowMs = Date.parse('2026-01-01T12:04:00Z');

function planOf(changes: readonly ChangeView[]): PlanView {
  return { factory: 'default', serial: 4, base: null, changes, summary: summarize(changes) };
}

function render(changes: readonly ChangeView[], diagnostics: readonly Diagnostic[] = []): string {
  return renderPlanMarkdown(planOf(changes), diagnostics, nowMs, '.');
}

/** What a change of a webhook means to a sender who delivered 312 times in the week. */
function impact(effects: WebhookImpact['effects'], silenced: string[] = []): WebhookImpact {
  const traffic = { lastAcceptedAt: '2026-01-01T12:00:00Z', accepted: 312, days: 7 };
  return { kind: 'webhook', effects, traffic, silenced };
}

function webhook(name: string, action: Change['action'], more: Partial<ChangeView> = {}): ChangeView {
  return { action, kind: 'webhook', name, fields: [], ...more };
}

const warning: Diagnostic = {
  ...{ code: 'secret/short', severity: 'warning', file: 'webhooks/a.yaml' },
  message: 'the value of A has only 4 bytes',
};

test('first what is lost, then a table, warnings, and a section for each change', () => {
  const shown = changes.map(change =>
    change.action === 'delete' ? { ...change, impact: impact(['url-gone'], ['e']) } : change,
  );
  expect(render(shown, [warning])).toBe(`\
<!-- hookmill-plan default . -->
### hookmill plan: 1 URL stops answering; 312 deliveries in 7 days would be lost

Factory <code>default</code>, against serial 4 of its applied state: 1 to add, 2 to change, 1 to destroy.

| Action | Object | Effect | Last delivery | 7 days |
| --- | --- | --- | --- | ---: |
| **Destroy** | webhook <code>c</code> | its URL stops answering; restoring the definition within 30 days brings it back<br>no longer starts e | 4 minutes ago | 312 |
| Change | webhook <code>b</code> | changes signatureScheme |  |  |
| Change | automation <code>e</code> | changes prompt, <code>triggers&#91;a&#93;&#46;filter&#46;payload</code> |  |  |
| Add | webhook <code>a</code> | gets a URL, which its sender needs |  |  |

#### Warnings

- <code>webhooks&#47;a&#46;yaml</code>: the value of A has only 4 bytes <code>&#91;secret&#47;short&#93;</code>

#### **Destroy** webhook <code>c</code>

\`\`\`diff
- webhook c
\`\`\`

#### Change webhook <code>b</code>

\`\`\`diff
- signatureScheme: "a|b"
+ signatureScheme: { header: X, hash: sha256 }
\`\`\`

#### Change automation <code>e</code>

\`\`\`diff
@@ prompt @@
  one
- two
+ three
- triggers[a].filter.payload: { level: [x] }
\`\`\`

#### Add webhook <code>a</code>

\`\`\`diff
+ authMode: token
\`\`\`
`);
});

test.each([
  [
    '2 URLs stop answering, 1 credential changes; 624 deliveries in 7 days would be lost',
    [
      webhook('a', 'update', { impact: impact(['credential-changed']) }),
      webhook('b', 'delete', { impact: impact(['url-gone']) }),
      webhook('c', 'update', { impact: impact(['disabled', 'identity-changed']) }),
    ],
  ],
  [
    '2 URLs change, 1 credential changes; 624 deliveries in 7 days would be lost',
    [
      webhook('a', 'delete', { impact: impact(['url-gone']), renamedTo: 'b' }),
      webhook('b', 'create', { renamedFrom: 'a' }),
      webhook('c', 'update', { impact: impact(['url-changed', 'authentication-changed']) }),
    ],
  ],
  [
    '1 URL stops answering, 1 automation is destroyed',
    [webhook('a', 'delete'), { ...change('b', []), action: 'delete' }],
  ],
  [
    '1 to add, 1 to change, 0 to destroy',
    [webhook('a', 'create'), webhook('b', 'update', { impact: impact(['enabled']) })],
  ],
  ['no changes', [webhook('a', 'no-op')]],
] satisfies [string, ChangeView[]][])('says in its first line: %s', (line, shown) => {
  expect(render(shown).split('\n')[1]).toBe(`### hookmill plan: ${line}`);
});

test('what is lost comes first, and a renamed webhook is one row', () => {
  const markdown = render([
    webhook('add', 'create'),
    webhook('enable', 'update', { impact: impact(['enabled']) }),
    webhook('new', 'create', {
      renamedFrom: 'old',
      fields: [{ field: 'secretName', path: 'secretName', after: 'S' }],
    }),
    webhook('old', 'delete', { impact: impact(['url-gone'], ['e']), renamedTo: 'new' }),
    webhook('rotate', 'update', { impact: impact(['credential-changed']) }),
    { ...change('destroy', []), action: 'delete' },
    change('prompt', [{ path: 'prompt', before: 'a', after: 'b' }]),
  ]);
  const rows = markdown.split('\n').filter(line => line.startsWith('| '));
  expect(rows.map(row => row.split(' | ').slice(0, 2).join(' '))).toEqual([
    '| Action Object',
    '| --- ---',
    '| **Destroy** automation <code>destroy</code>',
    '| **Rename** webhook <code>old</code> → <code>new</code>',
    '| Change webhook <code>rotate</code>',
    '| Change webhook <code>enable</code>',
    '| Change automation <code>prompt</code>',
    '| Add webhook <code>add</code>',
  ]);
  expect(rows[3]).toContain(
    '| its URL changes&#58; give the sender the new one<br>no longer starts e | 4 minutes ago | 312 |',
  );
  expect(markdown).toContain(
    '#### **Rename** webhook <code>old</code> → <code>new</code>\n\n```diff\n- webhook old\n+ webhook new\n+ secretName: S\n```\n',
  );
  expect(markdown).toContain('2 to add, 3 to change, 2 to destroy.');
});

test('warnings are in a list of their own, not in that of the last change', () => {
  const examples = [{ deliveryId: 'dlv_1', webhook: 'w', starts: true }];
  const counts = { runs: 1, stopped: 0 };
  const judged: ChangeView = {
    ...change('e', []),
    impact: {
      ...{ kind: 'automation', judged: 2, startedBefore: 0, startedAfter: 1, changed: 1, examples },
      runs: { before: { runs: 0, stopped: 0 }, after: counts },
    },
  };
  const blocks = lexer(render([judged], [warning])).filter(({ type }) => type !== 'space');
  const lists = blocks.filter(({ type }) => type === 'list');
  expect(lists.map(({ raw }) => raw.match(/^- /gm)?.length)).toEqual([1, 1]);
  const before = (list: Token | undefined) => list && blocks[blocks.indexOf(list) - 1];
  expect(before(lists[0])).toMatchObject({ type: 'heading', text: 'Warnings' });
});

test('a command in a hint is one piece of code', () => {
  const hint = 'push, and run `hookmill reconcile --once --allow-rename`; or `@everyone` waits';
  expect(render([], [{ ...warning, hint }])).toContain(
    '; push, and run <code>hookmill reconcile --once --allow-rename</code>; or <code>&#96;&#64;everyone&#96;</code> waits',
  );
});

test('the commit that is applied stands for the serial', () => {
  const base = { revision: '0123456789abcdef0123456789abcdef01234567', branch: 'main' };
  expect(renderPlanMarkdown({ ...planOf([]), base }, [], nowMs, '.')).toBe(`\
<!-- hookmill-plan default . -->
### hookmill plan: no changes

Factory <code>default</code>, against commit <code>0123456</code>, which is applied: no changes.
`);
});

const hostile = [
  '\n```\n',
  '\n\n   ````````\n# Heading',
  '\r```\r',
  '```diff',
  '~~~',
  '</code></pre><script>x</script>',
  '<!-- hookmill-plan other -->',
  '@everyone',
  '\u202e\u2066\u200b\u{e0041}\u2028',
  '\u001b[2J\u0007\u009b\b',
  '| x |\n| --- |',
  '\n/close\n/label ~bug',
];

test.each(hostile)('nothing in a definition ends the block of its diff: %j', text => {
  const fields = [
    { path: 'prompt', before: `one\n${text}\ntwo`, after: `one\n${text}\n${text}` },
    { path: 'secretName', before: text, after: 'x' },
    { path: `filter[${JSON.stringify(text)}]`, after: [text] },
  ];
  const markdown = render([change('e', fields)]);
  const blocks = lexer(markdown);
  expect(blocks.map(({ type }) => type).filter(type => type !== 'space')).toEqual([
    'html',
    'heading',
    'paragraph',
    'table',
    'heading',
    'code',
  ]);
  expect(blocks.at(-1)).toMatchObject({ lang: 'diff' });
  expect(markdown.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  for (const line of markdown.split('\n').slice(11, -2)) expect(line).toMatch(/^([-+@ ]|`{3,}|$)/);
});

test('a diff that has no room leaves a note, and every change keeps its section', () => {
  const long = Array.from({ length: 3_000 }, (_, line) => `Line ${line} of the prompt.`).join('\n');
  const fields = [{ path: 'prompt', before: 'Look.', after: long }];
  const markdown = render([
    change('long', fields),
    change('short', [{ path: 'enabled', before: true, after: false }]),
  ]);
  expect(markdown.length).toBeLessThan(65_000);
  expect(markdown).toContain(
    '#### Change automation <code>long</code>\n\nThis change is too long for a comment: run `hookmill plan` to see it.\n\n#### Change automation <code>short</code>\n\n```diff\n- enabled: true\n+ enabled: false\n```\n',
  );
});

test('stays within the size of a comment, and says how much it omits', () => {
  const many = Array.from({ length: 5_000 }, (_, index): Change => {
    return { action: 'delete', kind: 'automation', name: `automation-${index}`, fields: [] };
  });
  const markdown = render(many);
  expect(markdown.length).toBeLessThan(65_000);
  expect(markdown).toMatch(/\n\n\d+ more are omitted: run `hookmill plan` to see them all\.\n$/);
});

test('errors come before the plan of the others, with place, message and hint', () => {
  const missing: Diagnostic = {
    code: 'secret/missing',
    severity: 'error',
    message: 'there is no team secret X',
    file: 'webhooks/a.yaml',
    range: { start: { line: 3, column: 1 }, end: { line: 3, column: 2 } },
    hint: 'make it',
  };
  expect(render([webhook('c', 'delete')], [missing, warning])).toMatch(
    /^<!-- hookmill-plan default . -->\n### hookmill plan: the definitions cannot be applied\n\n\*\*1 URL stops answering\.\*\*\n\nFactory .*, against serial 4 of its applied state, without the definitions that have errors: 0 to add, .*\n\n#### Errors\n\n- <code>webhooks&#47;a&#46;yaml&#58;3<\/code>: there is no team secret X; make it <code>&#91;secret&#47;missing&#93;<\/code>\n\n\| Action .*\n.*\n\| \*\*Destroy\*\* .*\n\n#### Warnings\n/,
  );
});
