import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, inject, onTestFinished, test } from 'vitest';
import { computeFigures, type Figure, renderFigure } from '../../../bench/accept-path/figures.ts';

const program = join(import.meta.dirname, '../../../bench/accept-path.ts');

test('starts, and refuses an unknown option', async () => {
  const { exitCode, stderr } = await execa(process.execPath, [program, '--round', '1'], { reject: false });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Unknown option '--round'");
});

test('measures every figure beside its comparison, and writes them as JSON', async ({ skip }) => {
  skip(!inject('isLong'), 'npm run test:long does it');
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'figures.json');
  const small = ['--seconds', '0.1', '--rounds', '1', '--rows', '1000', '--connections', '4'];
  const { exitCode, all } = await execa(process.execPath, [program, ...small, '--json', file], {
    reject: false,
    all: true,
  });
  expect(exitCode, all).toBe(0);
  const { figures, versions } = JSON.parse(readFileSync(file, 'utf8'));
  const missing = figures.filter(({ ratio }: Figure) => !((ratio ?? 0) > 0));
  const uninstalled = ['redis-server', 'webhook'].filter(name => versions[name] === undefined);
  expect(missing, all).toHaveLength(uninstalled.length);
  for (const { figure } of figures) expect(all).toContain(figure);
});

test('the ratio is the median of the ratios of the rounds', () => {
  const figures = computeFigures({
    hookmill: [{ perSecond: 100 }, { perSecond: 300 }, { perSecond: 90 }],
    checked: [{ perSecond: 200 }, { perSecond: 400 }, { perSecond: 100 }],
  });
  expect(find(figures, 'HMAC')).toMatchObject({ measured: 100, comparison: 200, ratio: 0.75 });
});

test('a comparison whose program is not installed is said to be missing', () => {
  const figures = computeFigures({ hookmill: [{ perSecond: 100 }] });
  expect(renderFigure(find(figures, 'Redis'))).toMatchObject({
    measured: '100 /s',
    comparison: 'not installed',
    ratio: '',
  });
});

function find(figures: readonly Figure[], name: string): Figure {
  const found = figures.find(({ figure }) => figure.includes(name));
  if (!found) throw new Error(`no figure ${name}`);
  return found;
}
