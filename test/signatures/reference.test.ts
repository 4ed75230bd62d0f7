import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseWebhook } from '../../schema/definitions/parse-definition.ts';
import { renderExampleDefinition, renderSchemeReference } from '../../signatures/reference.ts';
import { schemeIds, schemes } from '../../signatures/schemes.ts';

describe('the reference', () => {
  it('is docs/signature-schemes.md, to the byte', async () => {
    const file = new URL('../../docs/signature-schemes.md', import.meta.url);
    expect(await readFile(file, 'utf8')).toBe(renderSchemeReference());
  });

  it('has a section for each scheme that its table links to', () => {
    const page = renderSchemeReference();
    const sections = [...page.matchAll(/^### (.*)$/gm)].map(([, id]) => id);
    const links = [...page.matchAll(/\]\(#([^)]*)\)/g)].map(([, id]) => id);
    expect(sections).toEqual(schemeIds);
    expect(links).toEqual(schemeIds);
  });

  it.each(schemes)('links to the documentation of $id', ({ page }) => {
    expect(URL.parse(page)?.protocol).toBe('https:');
  });

  it.each(schemeIds)('has an example for %s that is a valid definition', id => {
    const bytes = Buffer.from(renderExampleDefinition(id));
    expect(parseWebhook('example', 'webhooks/example.yaml', bytes).diagnostics).toEqual([]);
  });

  it('shows a custom scheme in a valid definition', () => {
    const [, example] =
      renderSchemeReference().match(/## Custom signature schemes.*?```yaml\n(.*?)```/s) ?? [];
    const parsed = parseWebhook('example', 'webhooks/example.yaml', Buffer.from(example ?? ''));
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.definition?.signatureScheme).toHaveProperty('header', 'X-Acme-Signature');
  });
});
