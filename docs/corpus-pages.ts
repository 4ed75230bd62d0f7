import type { Fields } from '../schema/filters/clause.ts';
import { renderFilter } from '../schema/filters/render-filter.ts';
import { schemes } from '../signatures/schemes.ts';
import corpus from './corpus/filters.json' with { type: 'json' };

/** The version of the shapes in `docs/corpus/`: raised when a reader of the earlier one would misread them. */
const corpusVersion = 1;

/** What verifies a request and identifies its delivery, and not where to find the secret, for example. */
const fields = new Set([
  ...['primitive', 'header', 'prefix', 'list', 'alternatives', 'hash', 'encoding', 'content', 'timestamp'],
  ...['key', 'otherKeys', 'asymmetric', 'idHeader', 'deliveryIdHeader'],
]);

/** Renders the signature schemes as data, by which a reader in any language can judge the rest of the corpus. */
export function renderCorpusSchemes(): string {
  const lines = schemes.map(scheme => {
    const { id, bodyIdentity } = scheme;
    const kept = Object.fromEntries(Object.entries(scheme).filter(([name]) => fields.has(name)));
    const { field, hashWithout } = bodyIdentity ?? {};
    const described = { ...kept, bodyIdentity: bodyIdentity && { field, hashWithout } };
    return `    ${JSON.stringify(id)}: ${JSON.stringify(described)}`;
  });
  const head = `{\n  "kind": "schemes",\n  "version": ${corpusVersion},\n  "schemes": {\n`;
  return `${head}${lines.join(',\n')}\n  }\n}\n`;
}

/** Renders the filters of the corpus as a table for people. */
export function renderFilterCases(): string {
  const cell = (value: string | Fields) =>
    `\`${typeof value === 'string' ? value : `{ ${renderFilter(value)} }`.replace('{  }', '{}')}\``;
  const rows = corpus.cases.map(one => {
    const pair = 'headers' in one ? [one.headerFilter, one.headers] : [one.filter, one.payload];
    return `| ${(pair as (string | Fields)[]).map(cell).join(' | ')} | ${one.matches ? 'match' : 'no match'} |`;
  });
  const isPayload = corpus.cases.map(one => 'payload' in one);
  const table = (left: string, wanted: boolean) => [
    `| ${left} | ${wanted ? 'payload' : 'headers'} | verdict |`,
    '| --- | --- | --- |',
    ...rows.filter((_, at) => isPayload[at] === wanted),
  ];
  return [
    '# Cases of filters',
    '',
    '<!-- Written by docs/generate.ts from docs/corpus/filters.json. -->',
    '',
    'What [filters](../payload-filters.md) match. The test suite runs these tables, and',
    '[the corpus](../corpus/README.md) has them as data, with the reason of each verdict.',
    '',
    '## Payloads',
    '',
    ...table('filter', true),
    '',
    '## Headers',
    '',
    ...table('header filter', false),
    '',
  ].join('\n');
}
