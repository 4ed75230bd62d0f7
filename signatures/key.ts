import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type { HmacDescription, PublicKeyDescription, SignatureDescription } from './description.ts';

export type DerivedKey =
  | { readonly ok: true; readonly key: KeyObject }
  | { readonly ok: false; readonly problem: string };

/** The key that verifies a scheme's requests: a secret or a public key. */
export function deriveKey(description: SignatureDescription, secret: string): DerivedKey {
  if (secret === '') return { ok: false, problem: 'the secret is empty' };
  switch (description.primitive) {
    case 'hmac':
      return hmacKey(description, secret);
    case 'shared-secret':
      return { ok: true, key: createSecretKey(secret, 'utf8') };
    case 'ed25519':
    case 'ecdsa-p256':
      return publicKey(description, secret);
  }
}

/** The bytes of strictly written hex or base64: canonical, whole, nothing around it. */
export function decodeStrictly(text: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const canonical = encoding === 'hex' ? text.toLowerCase() : text;
  return bytes.length > 0 && bytes.toString(encoding) === canonical ? bytes : undefined;
}

function hmacKey({ key = { encoding: 'utf8' } }: HmacDescription, secret: string): DerivedKey {
  const { stripPrefix, encoding } = key;
  const text = stripPrefix && secret.startsWith(stripPrefix) ? secret.slice(stripPrefix.length) : secret;
  const bytes = encoding === 'utf8' ? Buffer.from(text) : decodeStrictly(text, encoding);
  if (bytes && bytes.length > 0) return { ok: true, key: createSecretKey(bytes) };
  const after = stripPrefix ? ` after ${stripPrefix}` : '';
  const problem = encoding === 'utf8' || text === '' ? `is empty${after}` : `is not ${encoding}${after}`;
  return { ok: false, problem: `the secret ${problem}` };
}

// RFC 8410 section 4: the SubjectPublicKeyInfo of an Ed25519 key is these bytes and the 32 of the key.
const ed25519Header = Buffer.from('302a300506032b6570032100', 'hex');

function publicKey({ primitive, key }: PublicKeyDescription, secret: string): DerivedKey {
  const bytes = decodeStrictly(secret, key.encoding);
  if (!bytes) return { ok: false, problem: `the public key is not ${key.encoding}` };
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
    // Not the DER of any key: told below like the key of another kind.
  }
  return { ok: false, problem: `the public key is not a ${kind} key` };
}
