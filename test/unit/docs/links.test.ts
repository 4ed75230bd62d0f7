import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
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

const decisions = readdirSync(join(root, 'docs/decisions')).map(file => `docs/decisions/${file}`);

test('the index of the decisions lists the page of each area', () => {
  const linked = [...read('docs/decisions.md').matchAll(/\]\((decisions\/[^)]+)\)/g)].map(
    ([, page]) => `docs/${page}`,
  );
  expect(linked.sort()).toEqual(decisions.sort());
});

const contributing = readdirSync(join(root, 'docs/contributing')).map(file => `docs/contributing/${file}`);

test('CONTRIBUTING.md leads to each page of its folder', () => {
  const linked = [...read('CONTRIBUTING.md').matchAll(/\]\((docs\/contributing\/[^)]+)\)/g)];
  expect(linked.map(([, page]) => page).sort()).toEqual(contributing.sort());
});

test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...contributing, ...decisions])(
  '%s names source files that exist',
  page => {
    const named = read(page).match(/(?<=`)[a-z]+\/[\w./-]+\.(ts|tsx|md|yaml|yml|json|css)(?=`)/g) ?? [];
    // Only a build makes dist/.
    const folders = new Set(readdirSync(root).filter(folder => folder !== 'dist'));
    const gone = named.filter(
      file => folders.has(file.split('/', 1)[0] ?? '') && !existsSync(join(root, file)),
    );
    expect(gone).toEqual([]);
  },
);

test('nothing that users read or run takes hookmill from a registry, where the name is not ours', () => {
  const read = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => join(folder, file));
  const files = [...pages, ...['cli', 'deploy', 'examples', 'dashboard'].flatMap(read)]
    .filter(file => /\.(md|ts|tsx|js|yml|yaml)$/.test(file) && !decisions.includes(file))
    .map(file => [file, readFileSync(join(root, file), 'utf8')]);
  const named =
    /(npx|npm (exec|i|install|add))( -[-\w]+)* hookmill(?! \.\/)|(unpkg|npmjs|jsdelivr)\.\w+\/\S*hookmill|hookmill@\d/;
  const registry = files.flatMap(([file, text = '']) =>
    text
      .split('\n')
      .filter(line => named.test(line) && !line.includes('npx --no-install hookmill'))
      .map(line => `${file}: ${line}`),
  );
  expect(registry).toEqual([]);
});
