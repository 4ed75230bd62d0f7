import { lexer } from 'marked';
import { expect, test } from 'vitest';
import { renderErrorsMarkdown, renderPlanMarkdown } from '../../cli/render/render-plan-markdown.ts';

import { type Change, summarize } from '../../operations/plan/plan.ts';
import type { FieldChange } from '../../schema/changes/field-change.ts';
import type { Traffic } from '../../schema/changes/impact.ts';

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

/** The changes in Markdown, as if each had the same traffic. */
function render(changes: readonly Change[], traffic?: Traffic): string {
  const impact = traffic && { kind: 'webhook' as const, effects: [], traffic, silenced: [] };
  const explained = changes.map(change => ({ ...change, ...(impact && { impact }) }));
  const plan = { factory: 'default', serial: 4, changes: explained, summary: summarize(changes) };
  return renderPlanMarkdown(plan, [], Date.parse('2026-01-01T12:04:00Z'));
}

test('a section for each change and none for what stays, with its effect and a diff', () => {
  expect(render(changes, { lastAcceptedAt: '2026-01-01T12:00:00Z', accepted: 312, days: 7 })).toBe(`\
<!-- hookmill-plan default -->
### hookmill plan: 1 to add, 2 to change, 1 to destroy

Factory <code>default</code>, against serial 4 of its applied state.

#### Add webhook <code>a</code>

- last delivery 4 minutes ago, 312 in 7 days

\`\`\`diff
+ authMode: token
\`\`\`

#### Change webhook <code>b</code>

- last delivery 4 minutes ago, 312 in 7 days

\`\`\`diff
- signatureScheme: "a|b"
+ signatureScheme: { header: X, hash: sha256 }
\`\`\`

#### **Destroy** webhook <code>c</code>

- last delivery 4 minutes ago, 312 in 7 days

#### Change automation <code>e</code>

- last delivery 4 minutes ago, 312 in 7 days

\`\`\`diff
@@ prompt @@
  one
- two
+ three
- triggers[a].filter.payload: { level: [x] }
\`\`\`
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
    'heading',
    'code',
  ]);
  expect(blocks.at(-1)).toMatchObject({ lang: 'diff' });
  expect(markdown.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  for (const line of markdown.split('\n').slice(7, -2)) expect(line).toMatch(/^([-+@ ]|`{3,}|$)/);
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

test('definitions that cannot be applied are a comment too, with place, message and hint', () => {
  const markdown = renderErrorsMarkdown('default', [
    {
      code: 'secret/missing',
      severity: 'error',
      message: 'there is no team secret X',
      file: 'webhooks/a.yaml',
      range: { start: { line: 3, column: 1 }, end: { line: 3, column: 2 } },
      hint: 'make it',
    },
  ]);
  expect(markdown).toContain(
    '\n- error in <code>webhooks&#47;a&#46;yaml&#58;3</code>: there is no team secret X; make it <code>&#91;secret&#47;missing&#93;</code>\n',
  );
});
