import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Look } from './looks.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Runs axe on the page as it is; in dark colours, after light ones, only the rules whose result depends on colours. */
export async function violations(page: Page, look: Look = 'light'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe);
  const runOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
  const options = { resultTypes: ['violations'], ...(look === 'dark' && { runOnly }) };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const found = await page.evaluate<Violation[]>(run);
  return found.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target }) => target).join(', ')}`,
  );
}
