import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { decodeStrictly } from './decode-strictly.ts';
import type { HmacDescription, PublicKeyDescription, SignatureDescription } from './description.ts';

export type DerivedKey =
  | { readonly ok: true; readonly key: KeyObject }
  | { readonly ok: false; readonly problem: string };

/** Derives the key that verifies a scheme's requests: a secret key or a public key. */
export function deriveKey(description: SignatureDescription, secret: string): DerivedKey {
  if (secret === '') return { ok: false, problem: 'the secret is empty' };
  switch (description.primitive) {
    case 'hmac':
      return deriveHmacKey(description, secret);
    case 'shared-secret':
      return { ok: true, key: createSecretKey(secret, 'utf8') };
    case 'ed25519':
    case 'ecdsa-p256':
      return parsePublicKey(description, secret);
  }
}

/** Says what is wrong with a secret for this scheme, without its value; undefined if it can verify. */
export function checkSecret(description: SignatureDescription, secret: string): string | undefined {
  const derived = deriveKey(description, secret);
  return derived.ok ? undefined : derived.problem;
}

function deriveHmacKey({ key = { encoding: 'utf8' } }: HmacDescription, secret: string): DerivedKey {
  const { stripPrefix, encoding } = key;
  const text = stripPrefix && secret.startsWith(stripPrefix) ? secret.slice(stripPrefix.length) : secret;
  const bytes = encoding === 'utf8' ? Buffer.from(text) : decodeStrictly(text, encoding);
  if (bytes && bytes.length > 0) return { ok: true, key: createSecretKey(bytes) };
  const after = stripPrefix ? ` after ${stripPrefix}` : '';
  const problem =
    encoding === 'utf8' || text === '' ? `is empty${after}` : `is not valid ${encoding}${after}`;
  return { ok: false, problem: `the secret ${problem}` };
}

// RFC 8410 section 4: the SubjectPublicKeyInfo of an Ed25519 key is these bytes, then the 32 bytes of the key.
const ed25519Header = Buffer.from('302a300506032b6570032100', 'hex');

function parsePublicKey({ primitive, key }: PublicKeyDescription, secret: string): DerivedKey {
  const bytes = decodeStrictly(secret, key.encoding);
  if (!bytes) return { ok: false, problem: `the public key is not valid ${key.encoding}` };
  const kind = primitive === 'ed25519' ? '32-byte Ed25519' : 'P-256';
  const der = primitive === 'ed25519' ? Buffer.concat([ed25519Header, bytes]) : bytes;
  try {
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const fits =
      primitive === 'ed25519'
        ? bytes.length === 32
        : publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    if (fits) return { ok: true, key: publicKey };
  } catch {
    // Not a key at all, which is reported like a key of another kind.
  }
  return { ok: false, problem: `the public key is not a ${kind} key` };
}
