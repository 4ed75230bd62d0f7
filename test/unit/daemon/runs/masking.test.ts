import { expect, test } from 'vitest';
import { hideAll, maskSecrets } from '../../../../daemon/runs/masking.ts';
import type { RunOutput } from '../../../../store/ports/run-files.ts';

const secret = 'pa ss/w+rd"é=(1)';
const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n';

function collectOutput() {
  const chunks: Uint8Array[] = [];
  const output: RunOutput = {
    write: async chunk => void chunks.push(chunk),
    isFull: () => false,
    close: async () => undefined,
  };
  return { output, text: () => Buffer.concat(chunks).toString() };
}

const base64 = (before: string) => Buffer.from(`${before}${secret}:end`).toString('base64');
const lower = (text: string) => text.replaceAll(/%../g, code => code.toLowerCase());

test.for([
  ['as it is', secret, ''],
  ['in JSON', JSON.stringify(secret), '""'],
  ['in JSON as PHP writes it', '"pa ss\\/w+rd\\"\\u00e9=(1)"', '""'],
  ['in a URL', encodeURIComponent(secret), ''],
  ['in a URL, in lower case', lower(encodeURIComponent(secret)), ''],
  ['in a form', new URLSearchParams({ key: secret }).toString(), 'key='],
  ['in base64 at offset 0', base64(''), ''],
  ['in base64 at offset 1', base64('a'), ''],
  ['in base64 at offset 2', base64('ab'), ''],
  ['in base64 for a URL', Buffer.from(secret).toString('base64url'), ''],
] as const)('a secret is masked %s', ([, written]) => {
  const masked = maskSecrets([secret]).text(`before ${written} after`);
  expect(masked).toContain('[secret]');
  // Only characters that the neighbours of a secret decide, too, stay.
  expect(masked.length).toBeLessThan('before [secret] after'.length + 14);
});

test('each line of a secret is masked, with CRLF and with a prefix', () => {
  const masking = maskSecrets([key]);
  for (const written of [key.replaceAll('\n', '\r\n'), key.replaceAll(/^/gm, '> '), JSON.stringify(key)]) {
    const masked = masking.text(written);
    expect(masked).not.toMatch(/MIIE|hkiG/);
    expect(masked).toContain('[secret]');
  }
});

test('a link with a secret is left out, however it is encoded', () => {
  const masking = maskSecrets([secret]);
  const every = [...Buffer.from(secret)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
  for (const part of [encodeURIComponent(secret), every, encodeURIComponent(every)])
    expect(masking.said({ link: `https://x.example/${part}`, turns: 1 })).toEqual({ turns: 1 });
  expect(masking.said({ link: 'https://x.example/%e9' })).toEqual({ link: 'https://x.example/%e9' });
});

test('a secret in pieces is masked though another stream writes in between', async () => {
  const { output, text } = collectOutput();
  const masking = maskSecrets([secret]);
  const streams = [masking.output(output), masking.output(output)];
  for (const character of secret) for (const stream of streams) await stream.write(Buffer.from(character));
  for (const stream of streams) await stream.flush();
  expect(text()).toBe('[secret][secret]');
});

test('nothing that was said is kept if the secrets cannot be read', async () => {
  const { output, text } = collectOutput();
  await hideAll.output(output).write(Buffer.from('word'));
  const said = hideAll.said({ message: 'word', link: 'https://x.example/word', turns: 2 });
  expect(said).toEqual({ message: hideAll.text('word'), turns: 2 });
  expect(hideAll.text('word') + text()).not.toContain('word');
});
