import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Diagnostic, diagnosticsReportedMax } from '../../../../../schema/diagnostics.ts';
import { payloadFilterSchema } from '../../../../../schema/filters/payload-filter.ts';
import { findFilterWarnings } from '../../../../../schema/filters/warnings/find-filter-warnings.ts';
import { rightFilters, wrongFilters } from '../../../../support/filter-samples.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const uid = 'wh_0123456789abcdefghijklmn';
const filterLine = 7;

/** One automation for each filter, called f-0, f-1 … */
function withFilters(filters: readonly string[]): Workspace {
  const workspace = makeWorkspace();
  for (const [index, filter] of filters.entries()) {
    workspace.write(
      `automations/f-${index}.yaml`,
      `prompt: Look at ${index}.\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhook_ids: [${uid}]\n      payload: ${filter}\n`,
    );
  }
  return workspace;
}

async function validate(filters: readonly string[]): Promise<readonly Diagnostic[]> {
  const { stdout } = await withFilters(filters).hookmill('validate', '--format', 'json');
  return JSON.parse(stdout).diagnostics;
}

const found = await validate(wrongFilters.map(([filter]) => filter));

test.for(wrongFilters.map(([filter, code], index) => ({ filter, code, index })))(
  'validate reports $code for $filter, with a place and a remedy',
  ({ filter, code, index }) => {
    const reported = found.filter(({ file }) => file === `automations/f-${index}.yaml`);
    expect(reported.map(diagnostic => diagnostic.code)).toContain(code);
    for (const { range, hint, severity } of reported) {
      expect(range?.start.line).toBe(filterLine);
      expect(hint).toBeTruthy();
      expect(severity).toBe(payloadFilterSchema.safeParse(parse(filter)).success ? 'warning' : 'error');
    }
  },
);

test('plan reports the same as validate, and goes on after warnings', async () => {
  const isError = ({ severity }: Diagnostic) => severity === 'error';
  const filesWithErrors = new Set(found.filter(isError).map(({ file }) => file));
  const legal = wrongFilters.filter((_, index) => !filesWithErrors.has(`automations/f-${index}.yaml`));
  const illegal = wrongFilters.filter(mistake => !legal.includes(mistake));
  expect(legal.length).toBeGreaterThanOrEqual(40);
  for (const [part, exitCode] of [
    [legal.slice(0, diagnosticsReportedMax / 4), 0],
    [legal.slice(diagnosticsReportedMax / 4, diagnosticsReportedMax / 2), 0],
    [legal.slice(diagnosticsReportedMax / 2), 0],
    [illegal, 1],
  ] as const) {
    const planned = await withFilters(part.map(([filter]) => filter)).hookmill('plan');
    expect(planned.exitCode).toBe(exitCode);
    for (const [index, [, code]] of part.entries()) {
      expect(planned.stderr).toMatch(
        new RegExp(`^automations/f-${index}\\.yaml:${filterLine}:.*\\[${code}\\]$`, 'm'),
      );
    }
  }
});

test('right filters get no diagnostic, from validate or plan', async () => {
  const workspace = withFilters(rightFilters);
  const validated = JSON.parse((await workspace.hookmill('validate', '--format', 'json')).stdout);
  expect(validated.diagnostics).toEqual([]);
  const { stderr } = await workspace.hookmill('plan');
  expect(stderr).not.toContain('[filter/');
  expect(rightFilters.length).toBeGreaterThanOrEqual(40);
});

test('no hint suggests a filter that another diagnostic refuses', () => {
  const suggested = found.flatMap(({ hint = '' }) => /^write (.*?)(?: inside \w+)?$/.exec(hint)?.[1] ?? []);
  const filters = suggested.filter(text => /^\S+: /.test(text)).map(text => parse(`{ ${text} }`));
  expect(filters.length).toBeGreaterThanOrEqual(30);
  for (const filter of filters) {
    expect({ filter, warnings: findFilterWarnings(payloadFilterSchema.parse(filter)) }).toEqual({
      filter,
      warnings: [],
    });
  }
});

test.for([
  ['{ action: { nin: [deleted] } }', 'write action: { not_in: [deleted] }'],
  ['{ action: { eq: created } }', 'write action: [created]'],
  ['{ issue.level: error }', 'write issue: { level: [error] }'],
  ['{ issue: { number: [1] }, issue.level: [error] }', 'write level: [error] inside issue'],
  ['{ assignee: { missing: [true] } }', 'write assignee: { exists: false }'],
  ['{ level: { in: [error, info], not_in: [info] } }', 'list each value in only one of them'],
  ['{ ref: { like: ["release/*"] } }', 'write ref: { $like: ["release/*"] }'],
  ['{ ref: { not_like: ["release/*"] } }', 'write ref: { $not_like: ["release/*"] }'],
  ['{ count: { compare: { at_least: 5 } } }', 'use $compare: { at_least: 5 } instead'],
  ['{ ref: { $like: ["a*"], not_in: ["b*"] } }', 'write ref: { $like: ["a*"], $not_like: ["b*"] }'],
  ['{ ref: { like: ["a*"], exists: true } }', 'write $like instead of like'],
  ['{ action: [created|reopened] }', 'write action: [created, reopened]'],
  ['{ action: ["*"] }', 'write action: { exists: true }'],
  ['{ level: [{ exists: false }] }', 'write level: { exists: false }'],
  ['{ title: { contains: [urgent] } }', 'write title: { $like: ["*urgent*"] }'],
  ['{ title: { contains: "2 * 2" } }', String.raw`write title: { $like: ["*2 \\* 2*"] }`],
  ['{ ref: { startsWith: refs/tags/ } }', 'write ref: { $like: ["refs/tags/*"] }'],
  ['{ ref: { endsWith: [/main] } }', 'write ref: { $like: ["*/main"] }'],
  ['{ ref: [{ prefix: refs/tags/ }] }', 'write ref: { $like: ["refs/tags/*"] }'],
  ['{ ref: { glob: "release/*" } }', 'write ref: { $like: ["release/*"] }'],
  ['{ ref: { notLike: ["release/*"] } }', 'write ref: { $not_like: ["release/*"] }'],
  ['{ ref: { regex: "^refs/tags/v.*$" } }', 'write ref: { $like: ["refs/tags/v*"] }'],
  ['{ ref: { regex: "^(a|b)" } }', expect.stringContaining('write patterns in which *')],
  ['{ ref: { matches: ["^main$"] } }', 'write ref: [main]'],
  ['{ ref: { $like: release/* } }', 'write ref: { $like: ["release/*"] }'],
  ['{ ref: [release/*] }', 'write ref: { $like: ["release/*"] }'],
  ['{ ref: [main, "a*"] }', 'write ref: { $like: [main, "a*"] }'],
  ['{ ref: { not_in: ["^test"] } }', 'write ref: { $not_like: ["test*"] }'],
  ['{ ref: { $like: ["refs/%"] } }', 'write ref: { $like: ["refs/*"] }'],
  ['{ ref: { $like: ["^refs/.*"] } }', 'write ref: { $like: ["refs/*"] }'],
  [
    '{ ref: { $like: [main] } }',
    'for whole values, write ref: [main]; for a part of the text, ref: { $like: ["*main*"] }',
  ],
  ['{ count: { gte: 5, lte: 10 } }', 'write count: { $compare: { at_least: 5, at_most: 10 } }'],
  ['{ count: { $gt: 5 } }', 'write count: { $compare: { above: 5 } }'],
  ['{ count: { lt: ["5"] } }', 'write count: { $compare: { below: 5 } }'],
  ['{ count: { between: [5, 10] } }', 'write count: { $compare: { at_least: 5, at_most: 10 } }'],
  ['{ count: { at_least: 5 } }', 'write count: { $compare: { at_least: 5 } }'],
  ['{ count: [">=5"] }', 'write count: { $compare: { at_least: 5 } }'],
  ['{ count: { $compare: { gt: 5 } } }', 'use above: 5 instead'],
  ['{ count: { $compare: { below: "5" } } }', 'remove the quotes: below: 5'],
  [
    '{ count: { $compare: { above: 5, at_most: 5 } } }',
    'no number is above 5 and at most 5: correct a bound, or remove it',
  ],
])('the hint for %s says what to write', async ([filter = '', hint]) => {
  const hints = (await validate([filter])).map(({ hint }) => hint);
  expect([...new Set(hints)]).toEqual([hint]);
});

test('two automations that do the same are reported, in whatever order their triggers are', async () => {
  const workspace = makeWorkspace();
  const trigger = (filter: string) =>
    `  - { provider: webhook, event: received, filter: { webhook_ids: [${uid}], payload: ${filter} } }\n`;
  const [a, b] = [trigger('{ x: [1], y: [2] }'), trigger('{ z: [3] }')];
  workspace.write('automations/one.yaml', `prompt: Look.\ntriggers:\n${a}${b}`);
  workspace.write(
    'automations/two.yaml',
    `prompt: |\n  Look.\ntriggers:\n${b}${trigger('{ y: [2], x: [1] }')}`,
  );
  workspace.write('automations/three.yaml', `prompt: Look.\nenabled: false\ntriggers:\n${a}${b}`);
  const { stdout, exitCode } = await workspace.hookmill('validate', '--format', 'json');
  expect(JSON.parse(stdout).diagnostics).toMatchObject([
    {
      code: 'automation/duplicate',
      severity: 'warning',
      file: 'automations/two.yaml',
      range: { start: { line: 1 } },
    },
  ]);
  expect(exitCode).toBe(0);
});
