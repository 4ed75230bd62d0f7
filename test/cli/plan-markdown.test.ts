import { expect, test } from 'vitest';
import { renderErrorsMarkdown, renderPlanMarkdown } from '../../cli/render/render-plan-markdown.ts';
import type { Traffic } from '../../operations/impact.ts';
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

/** The changes in Markdown, as if each had the same traffic. */
function render(changes: readonly Change[], traffic?: Traffic): string {
  const impact = traffic && { kind: 'webhook' as const, effects: [], traffic, silenced: [] };
  const explained = changes.map(change => ({ ...change, ...(impact && { impact }) }));
  const plan = { factory: 'default', serial: 4, changes: explained, summary: summarize(changes) };
  return renderPlanMarkdown(plan, [], Date.parse('2026-01-01T12:04:00Z'));
}

test('a row for each change and none for what stays', () => {
  expect(render(changes, { lastAcceptedAt: '2026-01-01T12:00:00Z', accepted: 312, days: 7 })).toBe(`\
<!-- hookmill-plan default -->
### hookmill plan: 1 to add, 2 to change, 1 to destroy

Factory <code>default</code>, against serial 4 of its applied state.

| | | fields | effect |
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
  const rows = render(hostile).split('\n').slice(7, -1);
  expect(rows).toHaveLength(hostile.length);
  for (const row of rows) expect(row.split('|')).toHaveLength(6);
});

test('stays within the size of a comment, and says how much it omits', () => {
  const many = Array.from({ length: 5_000 }, (_, index): Change => {
    return { action: 'delete', kind: 'automation', name: `automation-${index}`, fields: [] };
  });
  const markdown = render(many);
  expect(markdown.length).toBeLessThan(65_000);
  expect(markdown).toMatch(/\n\n\d+ more lines are omitted: run `hookmill plan` to see them all\.\n$/);
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
    '\n- error in <code>webhooks&#47;a&#46;yaml&#58;3</code>: there is no team secret X; make it &#91;secret&#47;missing&#93;\n',
  );
});
