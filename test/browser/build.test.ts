import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const built = join(import.meta.dirname, '../../dist/dashboard');
/** Of the first page, without the editor of automations, which is loaded when it is opened. */
const firstBytesMax = 170 * 1024;
const editorBytesMax = 250 * 1024;

const measure = (files: readonly string[]) =>
  files.map(file => gzipSync(readFileSync(join(built, 'assets', file))).length).reduce((a, b) => a + b, 0);

/** Lists the scripts that the page loads at once: those it names, and what they import. */
function listFirst(): readonly string[] {
  const page = readFileSync(join(built, 'index.html'), 'utf8');
  const found = new Set(Array.from(page.matchAll(/"\/assets\/([\w-]+\.js)"/g), ([, file = '']) => file));
  for (const file of found) {
    const script = readFileSync(join(built, 'assets', file), 'utf8');
    const imports = script.matchAll(/\b(?:import|from)\s*["'`]\.\/([\w-]+\.js)["'`]/g);
    for (const [, imported = ''] of imports) found.add(imported);
  }
  return [...found];
}

test('loads less than 170 KB of gzipped script at first, in files named by their content', () => {
  const assets = readdirSync(join(built, 'assets'));
  expect(assets.filter(file => !/^[\w-]+-[\w-]{8}\.(js|css)$/.test(file))).toEqual([]);
  const first = listFirst();
  expect(first.length).toBeGreaterThan(0);
  expect(measure(first)).toBeLessThan(firstBytesMax);
  const later = assets.filter(file => file.endsWith('.js') && !first.includes(file));
  expect(later.filter(file => file.startsWith('automation-page-'))).toHaveLength(1);
  expect(measure(later)).toBeLessThan(editorBytesMax);
});

test('loads nothing from other sites, and has no inline script or style', () => {
  const page = readFileSync(join(built, 'index.html'), 'utf8');
  const loaded = [...page.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
  expect(loaded.filter(url => !/^\/[^/]/.test(url))).toEqual([]);
  expect(page).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
  const styles = readdirSync(join(built, 'assets')).filter(file => file.endsWith('.css'));
  for (const file of styles) {
    expect(readFileSync(join(built, 'assets', file), 'utf8')).not.toMatch(/url\(|@font-face|@import/);
  }
});
