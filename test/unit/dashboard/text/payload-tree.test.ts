import { describe, expect, test } from 'vitest';
import {
  compareTrees,
  createValueRenderer,
  describeFields,
  findNodes,
  listNodes,
  shownFieldsMax,
} from '../../../../dashboard/text/payload-tree.ts';
import { parseFieldPath } from '../../../../schema/field-path.ts';

const payload = {
  action: 'opened',
  pull_request: { title: 'Charge VAT', head: { ref: 'vat-by-country' }, labels: [] },
  'odd name': [1, { deep: true }],
};

function list(isOpen: (path: string, depth: number) => boolean, root: unknown = payload): string[] {
  return listNodes(root, { isOpen, shownOf: () => shownFieldsMax }).map(({ path, rest }) =>
    rest === undefined ? path : `${rest} more`,
  );
}

describe('the tree of a payload', () => {
  test('lists what is open, with paths that a filter or deliveryIdField takes', () => {
    expect(list((_, depth) => depth < 1)).toEqual([
      ...['$.action', '$.pull_request', '$.pull_request.title', '$.pull_request.head'],
      ...['$.pull_request.labels', '$["odd name"]', '$["odd name"][0]', '$["odd name"][1]'],
    ]);
    for (const path of list(() => true)) expect(parseFieldPath(path), path).toBeDefined();
    expect(list(() => false)).toEqual(['$.action', '$.pull_request', '$["odd name"]']);
  });

  test('shows a value that has no fields, and the first of very many fields', () => {
    expect(list(() => true, 'text')).toEqual(['$']);
    const many = Array.from({ length: shownFieldsMax + 7 }, (_, n) => n);
    expect(list(() => true, { many }).slice(-2)).toEqual([`$.many[${shownFieldsMax - 1}]`, '7 more']);
  });

  test('describes a branch by its size and what names it', () => {
    expect(describeFields({ id: 1, login: 'jlin' })).toBe('2 fields · jlin');
    expect(describeFields({ __proto__: null, a: 1 })).toBe('1 field');
    expect(describeFields([1, 2])).toBe('2 elements');
  });

  test('finds keys and values in upper and lower case, from top to bottom, and what is above them', () => {
    const { paths, above } = findNodes(payload, 'VaT');
    expect(paths).toEqual(['$.pull_request.title', '$.pull_request.head.ref']);
    expect([...above]).toEqual(['$.pull_request', '$.pull_request.head']);
    expect(findNodes(payload, 'deep').paths).toEqual(['$["odd name"][1].deep']);
    expect(findNodes(payload, '').paths).toEqual([]);
  });

  test('survives any depth', () => {
    const depth = 50_000;
    const deep: unknown = JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`);
    expect(findNodes(deep, '1').paths).toEqual([]);
    expect(list((_, depth) => depth < 2, deep)).toHaveLength(3);
    expect(compareTrees(deep, [2], 10)).toHaveLength(1);
  });

  test('shows numbers with all their digits', () => {
    const json = '{"id": 12345678901234567890, "price": 1.10, "n": 7}';
    const render = createValueRenderer(json);
    const nodes = listNodes(JSON.parse(json), { isOpen: () => true, shownOf: () => 10 });
    expect(nodes.map(render)).toEqual(['12345678901234567890', '1.10', '7']);
  });
});

describe('the comparison of two payloads', () => {
  test('names each field that was changed, added or removed', () => {
    const after = { ...payload, action: 'closed', 'odd name': [1], merged: true };
    expect(compareTrees(payload, after, 10)).toEqual([
      { path: '$.action', before: 'opened', after: 'closed' },
      { path: '$["odd name"][1]', before: { deep: true }, after: undefined },
      { path: '$.merged', before: undefined, after: true },
    ]);
    expect(compareTrees(payload, structuredClone(payload), 10)).toEqual([]);
    expect(compareTrees({ a: {} }, { a: [] }, 10)).toHaveLength(1);
    expect(compareTrees({ a: 1, b: 1 }, { a: 2, b: 2 }, 1)).toHaveLength(1);
  });
});
