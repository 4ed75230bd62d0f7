import { expect, test } from 'vitest';
import { planMarkdown, refusalMarkdown } from '../../cli/render/plan-markdown.ts';
import { type Change, summarize } from '../../operations/plan.ts';

const changes: readonly Change[] = [
  { action: 'create', kind: 'webhook', name: 'a', fields: [{ field: 'authMode', after: 'token' }] },
  {
    action: 'update',
    kind: 'webhook',
    name: 'b',
    fields: [{ field: 'signatureScheme', before: 'a|b', after: { header: 'X', hash: 'sha256' } }],
  },
  { action: 'delete', kind: 'webhook', name: 'c', fields: [] },
  { action: 'no-op', kind: 'webhook', name: 'd', fields: [] },
  {
    action: 'update',
    kind: 'automation',
    name: 'e',
    fields: [{ field: 'prompt', before: 'one', after: 'two' }],
  },
];

function markdownOf(changes: readonly Change[], sentences: readonly string[] = []): string {
  const explained = changes.map(change => ({ change, sentences }));
  return planMarkdown('default', 4, summarize(changes), explained, []);
}

test('a row for each change and none for what stays', () => {
  expect(markdownOf(changes, ['last delivery 4 minutes ago, 312 in 7 days'])).toBe(`\
<!-- hookmill-plan default -->
### hookmill plan: 1 to add, 2 to change, 1 to destroy

Factory <code>default</code>, against serial 4 of its applied state.

| | | fields | what it does |
| --- | --- | --- | --- |
| add | webhook <code>a</code> | authMode <code>token</code> | last delivery 4 minutes ago, 312 in 7 days |
| change | webhook <code>b</code> | signatureScheme <code>a&#124;b</code> → <code>&#123;&#34;header&#34;&#58;&#34;X&#34;,&#34;hash&#34;&#58;&#34;sha256&#34;&#125;</code> | last delivery 4 minutes ago, 312 in 7 days |
| **destroy** | webhook <code>c</code> |  | last delivery 4 minutes ago, 312 in 7 days |
| change | automation <code>e</code> | prompt | last delivery 4 minutes ago, 312 in 7 days |
`);
});

test('each row has its four cells, whatever the values are', () => {
  const hostile = ['|', '\\|', '`|`', '\n| x | y |', '<!-- ', '&#124;', '</code>|'].map((value): Change => {
    return { action: 'create', kind: 'webhook', name: 'a', fields: [{ field: 'secretName', after: value }] };
  });
  const rows = markdownOf(hostile).split('\n').slice(7, -1);
  expect(rows).toHaveLength(hostile.length);
  for (const row of rows) expect(row.split('|')).toHaveLength(6);
});

test('stays within what a comment can hold, and says what it leaves out', () => {
  const many = Array.from({ length: 5_000 }, (_, index): Change => {
    return { action: 'delete', kind: 'automation', name: `automation-${index}`, fields: [] };
  });
  const markdown = markdownOf(many);
  expect(markdown.length).toBeLessThan(65_000);
  expect(markdown).toMatch(/\n\n\d+ more lines are left out: `hookmill plan` prints them all\.\n$/);
});

test('definitions that cannot be applied are a comment too, with place, message and hint', () => {
  const markdown = refusalMarkdown('default', [
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
    '\n- error in <code>webhooks&#47;a&#46;yaml&#58;3</code>: there is no team secret X; make it &#91;secret&#47;missing&#93;\n',
  );
});
