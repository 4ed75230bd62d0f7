import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const built = join(import.meta.dirname, '../../dist/dashboard');
const scriptBytesMax = 150 * 1024;

test('has less than 150 KB of gzipped script, in files named by their content', () => {
  const assets = readdirSync(join(built, 'assets'));
  expect(assets.filter(file => !/^[\w-]+-[\w-]{8}\.(js|css)$/.test(file))).toEqual([]);
  const scripts = assets.filter(file => file.endsWith('.js'));
  const bytes = scripts.map(file => gzipSync(readFileSync(join(built, 'assets', file))).length);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(scriptBytesMax);
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
