import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = [
  ...readdirSync(root).filter(file => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => join('docs', file)),
];

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): readonly string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(pages)('%s', page => {
  test('links to files, pictures and headings that exist', () => {
    const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
      .map(([, link, picture]) => link ?? picture ?? '')
      .filter(target => !/^https?:/.test(target));
    const broken = targets.filter(target => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      return !existsSync(join(root, file)) || (anchor !== undefined && !anchors(file).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
});

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/decisions.md'])(
  '%s names source files that exist',
  page => {
    const named = read(page).match(/(?<=`)[a-z]+\/[\w./-]+\.(ts|tsx|md|yaml|yml|json|css)(?=`)/g) ?? [];
    const folders = new Set(readdirSync(root));
    const gone = named.filter(
      file => folders.has(file.split('/', 1)[0] ?? '') && !existsSync(join(root, file)),
    );
    expect(gone).toEqual([]);
  },
);
