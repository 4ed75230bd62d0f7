// Measures how long each HMAC scheme takes to verify a delivery of 4 KiB, compared with a bare `createHmac` over the
// same body. The goal is a ratio of at most 1.3. Two schemes do more than a MAC: Linear's timestamp is parsed out of
// the body, and Contentful signs a canonical form of the request. First, it measures how long a failed signature is
// explained at most: over the largest body, and over bodies that are costly to parse. The goal is a few ms.
// Usage: node bench/signature.ts
import { createHmac } from 'node:crypto';
import process from 'node:process';
import type { HmacDescription } from '../signatures/description.ts';
import { explainFailure } from '../signatures/explain-failure.ts';
import { findScheme, schemes } from '../signatures/schemes.ts';
import { signRequest } from '../signatures/sign.ts';
import { compileVerifier } from '../signatures/verify.ts';
import { round } from './support/statistics.ts';

const nowMs = 1_700_000_000_000;
const url = 'https://hooks.example.com/webhooks/w/wh_0123456789abcdefghijklmn';
const body = Buffer.from(JSON.stringify({ webhookTimestamp: nowMs, text: 'x'.repeat(4096 - 45) }));
const callsPerRound = 2_000;
const rounds = 60;

const mismatch = { code: 'signature-mismatch' } as const;
const wrong = {
  'x-hub-signature-256': [`sha256=${'0'.repeat(64)}`],
  'x-razorpay-signature': ['0'.repeat(64)],
};
const github = findScheme('github');
if (!github) throw new Error('no scheme github');
for (const [name, body] of [
  ['4 KiB', Buffer.alloc(4 * 1024, 'x')],
  ['256 KiB', Buffer.alloc(256 * 1024, 'x')],
  ['256 KiB of spaces', Buffer.alloc(256 * 1024, ' ')],
  ['64 KiB, nested', Buffer.from('['.repeat(32 * 1024) + ']'.repeat(32 * 1024))],
  ['64 KiB of strings', Buffer.from('"" '.repeat(21 * 1024))],
  ['64 KiB of escapes', Buffer.from(`"${'\\\\"'.repeat(32 * 1024 - 1)}`)],
] as const) {
  const request = { headers: wrong, body, url, method: 'POST' };
  const times = Array.from({ length: 20 }, () => {
    const startMs = performance.now();
    explainFailure(github, 'whsec_c2VjcmV0 ', request, mismatch);
    return performance.now() - startMs;
  });
  process.stdout.write(`explained: ${name.padEnd(20)}${round(Math.min(...times), 2)} ms\n`);
}

const rows = schemes.flatMap(scheme => (scheme.primitive === 'hmac' ? [measure(scheme.id, scheme)] : []));
rows.sort((a, b) => b.ratio - a.ratio);
for (const { id, verifyNs, bareNs, ratio } of rows) {
  const figures = [`${verifyNs.toFixed(0)} ns`, `${bareNs.toFixed(0)} ns`, ratio.toFixed(2)];
  process.stdout.write(`${id.padEnd(22)}${figures.map(figure => figure.padStart(10)).join('')}\n`);
}

function measure(id: string, description: HmacDescription) {
  const secret = secretFor(description);
  const signed = signRequest(description, secret, { body, url, method: 'POST', nowMs, id: 'evt_1' });
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toLowerCase(), [value]]),
  );
  const request = { headers, body, url, method: 'POST' };
  const verify = compileVerifier(description, secret);
  if (!verify(request, nowMs).ok) throw new Error(`${id} does not verify what it signs`);

  const verified = () => verify(request, nowMs);
  const bare = () => createHmac(description.hash, secret).update(body).digest(description.encoding);
  let verifyNs = Number.POSITIVE_INFINITY;
  let bareNs = Number.POSITIVE_INFINITY;
  // Both take turns and the best of many rounds counts, so that other load on the machine affects both equally.
  for (let round = 0; round < rounds; round++) {
    bareNs = Math.min(bareNs, nsPerCall(bare));
    verifyNs = Math.min(verifyNs, nsPerCall(verified));
  }
  return { id, verifyNs, bareNs, ratio: verifyNs / bareNs };
}

function nsPerCall(call: () => unknown): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < callsPerRound; i++) call();
  return Number(process.hrtime.bigint() - start) / callsPerRound;
}

function secretFor({ key }: HmacDescription): string {
  const bytes = Buffer.from('a secret of thirty-two bytes, ok');
  return `${key?.stripPrefix ?? ''}${bytes.toString(key?.encoding ?? 'utf8')}`;
}
