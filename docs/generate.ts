/**
 * Writes the files that are made from the code. `node docs/generate.ts` writes them; with `--check` it writes none,
 * names those that are stale and exits 1.
 */
import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderOpenApi } from '../schema/api/openapi.ts';
import { apiRoutes, apiShapes } from '../schema/api/routes.ts';
import {
  getSchemePage,
  renderIdentities,
  renderSchemeIndex,
  renderSchemesOfKind,
  schemeKinds,
} from '../signatures/reference.ts';
import { renderCorpusSchemes, renderFilterCases } from './corpus-pages.ts';
import { editorSchemas } from './editor-schemas.ts';
import { renderDiagnosticsIndex, renderLimits } from './reference-tables.ts';

interface GeneratedFile {
  /** From the project's root. */
  readonly path: string;
  readonly render: () => string;
}

const files: readonly GeneratedFile[] = [
  { path: 'docs/reference/signature-schemes/README.md', render: renderSchemeIndex },
  { path: 'docs/reference/signature-schemes/identities.md', render: renderIdentities },
  ...schemeKinds.map(kind => ({
    path: `docs/reference/signature-schemes/${getSchemePage(kind)}`,
    render: () => renderSchemesOfKind(kind),
  })),
  { path: 'docs/reference/diagnostics/README.md', render: renderDiagnosticsIndex },
  { path: 'docs/reference/limits.md', render: renderLimits },
  { path: 'docs/reference/filter-cases.md', render: renderFilterCases },
  { path: 'docs/corpus/schemes.json', render: renderCorpusSchemes },
  ...editorSchemas,
  {
    path: 'docs/reference/openapi.json',
    render: () => `${JSON.stringify(renderOpenApi(apiRoutes, apiShapes), null, 1)}\n`,
  },
];

const { check } = parseArgs({ options: { check: { type: 'boolean', default: false } } }).values;

for (const { path, render } of files) {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  if ((await read(file)) === render()) continue;
  if (check) {
    process.stderr.write(`${path} is stale: run \`npm run generate\`\n`);
    process.exitCode = 1;
  } else {
    await writeFile(file, render());
    process.stderr.write(`wrote ${path}\n`);
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
