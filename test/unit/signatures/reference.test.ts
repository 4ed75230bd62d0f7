import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseWebhook } from '../../../schema/definitions/parse-webhook.ts';
import {
  getSchemePage,
  renderExampleDefinition,
  renderIdentities,
  renderSchemeIndex,
  renderSchemesOfKind,
  schemeKinds,
} from '../../../signatures/reference.ts';
import { schemeIds, schemes } from '../../../signatures/schemes.ts';

const folder = new URL('../../../docs/reference/signature-schemes/', import.meta.url);

describe('the reference', () => {
  it('has a page for each kind of provider, and no other', async () => {
    expect((await readdir(folder)).sort()).toEqual(
      ['README.md', 'identities.md', ...schemeKinds.map(getSchemePage)].sort(),
    );
  });

  it('is what the code renders, to the byte', async () => {
    expect(await readFile(new URL('identities.md', folder), 'utf8')).toBe(renderIdentities());
    expect(await readFile(new URL('README.md', folder), 'utf8')).toBe(renderSchemeIndex());
    for (const kind of schemeKinds)
      expect(await readFile(new URL(getSchemePage(kind), folder), 'utf8')).toBe(renderSchemesOfKind(kind));
  });

  it('has a section for each scheme, to which the index links', () => {
    const sections = schemeKinds.flatMap(kind =>
      [...renderSchemesOfKind(kind).matchAll(/^## (.*)$/gm)].map(([, id]) => `${getSchemePage(kind)}#${id}`),
    );
    const links = [...renderSchemeIndex().matchAll(/\]\(([^)]*#[^)]*)\)/g)].map(([, target]) => target);
    expect(links).toEqual(sections);
    expect(sections.map(section => section.split('#')[1])).toEqual(schemeIds);
  });

  it.each(schemes)('links to the documentation of $id', ({ page }) => {
    expect(URL.parse(page)?.protocol).toBe('https:');
  });

  it.each(schemeIds)('has an example for %s that is a valid definition', id => {
    const bytes = Buffer.from(renderExampleDefinition(id));
    expect(parseWebhook('example', 'webhooks/example.yaml', bytes).diagnostics).toEqual([]);
  });

  it('shows a custom scheme in a valid definition', () => {
    const [, example] = renderSchemeIndex().match(/## Custom signature schemes.*?```yaml\n(.*?)```/s) ?? [];
    const parsed = parseWebhook('example', 'webhooks/example.yaml', Buffer.from(example ?? ''));
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.definition?.signatureScheme).toHaveProperty('header', 'X-Acme-Signature');
  });
});
