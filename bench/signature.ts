// Measures how long each HMAC scheme takes to verify a delivery of 4 KiB, compared with a bare `createHmac` over the
// same body. The goal is a ratio of at most 1.3. Two schemes do more than a MAC: Linear's timestamp is parsed out of
// the body, and Contentful signs a canonical form of the request. First, it measures how long a failed signature is
// explained at most: over the largest body, and over bodies that are costly to parse. The goal is a few ms.
// Usage: node bench/signature.ts
import { createHmac } from 'node:crypto';
import type { HmacDescription } from '../signatures/description.ts';
import { explainFailure } from '../signatures/explain-failure.ts';
import { findScheme, schemes } from '../signatures/schemes.ts';
import { signRequest } from '../signatures/sign.ts';
import { compileVerifier } from '../signatures/verify.ts';
import { round } from './support/statistics.ts';
import { measureFastest } from './support/timing.ts';

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
const bodies = {
  '4 KiB': 'x'.repeat(4 * 1024),
  '256 KiB': 'x'.repeat(256 * 1024),
  '256 KiB of spaces': ' '.repeat(256 * 1024),
  '64 KiB, nested': '['.repeat(32 * 1024) + ']'.repeat(32 * 1024),
  '64 KiB of strings': '"" '.repeat(21 * 1024),
  '64 KiB of escapes': `"${'\\\\"'.repeat(32 * 1024 - 1)}`,
};
console.table(
  Object.entries(bodies).map(([explained, text]) => {
    const request = { headers: wrong, body: Buffer.from(text), url, method: 'POST' };
    const explain = () => explainFailure(github, 'whsec_c2VjcmV0 ', request, mismatch);
    return { explained, ms: round(Math.min(...Array.from({ length: 20 }, () => nsOf(1, explain))) / 1e6, 2) };
  }),
);
const rows = [];
for (const scheme of schemes) if (scheme.primitive === 'hmac') rows.push(await measure(scheme.id, scheme));
console.table(rows.sort((a, b) => b.ratio - a.ratio));

async function measure(scheme: string, description: HmacDescription) {
  const secret = secretFor(description);
  const signed = signRequest(description, secret, { body, url, method: 'POST', nowMs, id: 'evt_1' });
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toLowerCase(), [value]]),
  );
  const request = { headers, body, url, method: 'POST' };
  const verify = compileVerifier(description, secret);
  if (!verify(request, nowMs).ok) throw new Error(`${scheme} does not verify what it signs`);
  const hmac = () => createHmac(description.hash, secret).update(body).digest(description.encoding);
  const cases = {
    bare: () => nsOf(callsPerRound, hmac),
    verified: () => nsOf(callsPerRound, () => verify(request, nowMs)),
  };
  const { verified, bare } = await measureFastest(cases, rounds);
  const ns = { 'verify ns': Math.round(verified), 'bare ns': Math.round(bare) };
  return { scheme, ...ns, ratio: round(verified / bare, 2) };
}

/** The time of a call, as the mean of so many. */
function nsOf(calls: number, call: () => unknown): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) call();
  return Number(process.hrtime.bigint() - start) / calls;
}

function secretFor({ key }: HmacDescription): string {
  const bytes = Buffer.from('a secret of thirty-two bytes, ok');
  return `${key?.stripPrefix ?? ''}${bytes.toString(key?.encoding ?? 'utf8')}`;
}
