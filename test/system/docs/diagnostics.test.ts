import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getDocsFile } from '../../../cli/formats/sarif.ts';
import { type DiagnosticCode, diagnosticCodes } from '../../../schema/diagnostics.ts';
import { runShell } from '../../support/run-shell.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const bin = join(import.meta.dirname, '../../../cli/bin.js');
const folder = join(import.meta.dirname, '../../../docs/reference/diagnostics');
const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];

// Their examples need a followed repository, a provider, a dashboard, stored deliveries, or thousands of files.
const told: readonly DiagnosticCode[] = [
  'webhook/renamed',
  'webhook/identity-repeated',
  'webhook/sender-differs',
  'definition/git-ignored',
  'factory/behind',
  'factory/conflict',
  'factory/dashboard-managed',
  'factory/rewound',
  'factory/too-large',
  'automation/path-not-sent',
  'filter/field-not-sent',
  'filter/value-not-sent',
  'filter/type-not-sent',
  'filter/any-element',
  'report/shortened',
];

interface Block {
  readonly language: string;
  /** The path of the file that the block shows; undefined for commands. */
  readonly path: string | undefined;
  readonly content: string;
}

test('has a page for each code, and no other', () => {
  expect(readdirSync(folder).sort()).toEqual(['README.md', ...codes.map(getDocsFile)].sort());
});

describe('the page of', () => {
  test.for(codes)('%s states its rule', code => {
    expect(pageOf(code).replaceAll(/\s+/g, ' ')).toContain(`# ${code} The rule: ${diagnosticCodes[code]}. `);
  });

  const runnable = codes.filter(code => !told.includes(code));

  test.for(runnable)('%s has a wrong example that yields it', async code => {
    const { printed } = await run(example(code, 'Wrong'));
    expect(printed).toContain(`[${code}]`);
  });

  test.for(runnable)('%s has a right example that yields nothing', async code => {
    const { printed, failed } = await run(example(code, 'Right'));
    expect(printed).not.toMatch(/\[[a-z]+\/[a-z-]+\]/);
    expect(failed).toBe(false);
  });
});

function pageOf(code: DiagnosticCode): string {
  return readFileSync(join(folder, getDocsFile(code)), 'utf8');
}

/** The fenced blocks of a section. */
function example(code: DiagnosticCode, section: 'Wrong' | 'Right'): Block[] {
  const text = pageOf(code).split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const blocks = text.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)\n```$/gms);
  return [...blocks].map(([, language = '', path, content = '']) => ({ language, path, content }));
}

/** Runs the example's own commands, or `validate` where none of them is hookmill's. */
async function run(blocks: readonly Block[]): Promise<{ printed: string; failed: boolean }> {
  const workspace = makeWorkspace();
  for (const { path, content } of blocks) if (path) workspace.write(path, `${content}\n`);
  const scripts = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content);
  if (scripts.length > 0) {
    if (!scripts.some(script => /^hookmill /m.test(script))) scripts.push('hookmill validate');
    return shell(workspace, scripts.join('\n'));
  }
  const { stdout, stderr, exitCode } = await workspace.hookmill('validate');
  return { printed: stdout + stderr, failed: exitCode !== 0 };
}

async function shell({ directory, path, write }: Workspace, script: string) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  write('bin/hookmill', `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
  chmodSync(path('bin/hookmill'), 0o755);
  const env = { PATH: `${path('bin')}:${PATH}`, HOME: directory, NODE_COMPILE_CACHE, NO_COLOR: '1' };
  const { stdout, stderr, exitCode } = await runShell(script, { cwd: directory, env });
  return { printed: stdout + stderr, failed: exitCode !== 0 };
}
