import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type {
  HmacDescription,
  KeyDerivation,
  PublicKeyDescription,
  SignatureDescription,
} from './description.ts';

export type DerivedKeys =
  | { readonly ok: true; readonly keys: readonly [KeyObject, ...KeyObject[]] }
  | { readonly ok: false; readonly problem: string };

/**
 * Chooses the form of a scheme that a secret is for: its public-key form if the secret is a key of one, otherwise the
 * scheme as it is described.
 */
export function selectForm(description: SignatureDescription, secret: string): SignatureDescription {
  if (description.primitive !== 'hmac' || !description.asymmetric) return description;
  const { asymmetric } = description;
  const { publicPrefix, privatePrefix } = asymmetric.key;
  const isKey = secret.startsWith(publicPrefix) || secret.startsWith(privatePrefix);
  return isKey ? { ...description, ...asymmetric } : description;
}

/**
 * Derives the keys with which a scheme's requests may be signed: secret keys or a public key. `description` is the form
 * that `selectForm` chose. There are several keys only if the provider changed how it derives them.
 */
export function deriveKeys(description: SignatureDescription, secret: string): DerivedKeys {
  if (secret === '') return { ok: false, problem: 'the secret is empty' };
  switch (description.primitive) {
    case 'hmac':
      return deriveHmacKeys(description, secret);
    case 'shared-secret':
      return { ok: true, keys: [createSecretKey(secret, 'utf8')] };
    case 'ed25519':
    case 'ecdsa-p256':
      return parsePublicKey(description, secret);
  }
}

/** Says what is wrong with a secret for this scheme, without its value; undefined if it can verify. */
export function checkSecret(description: SignatureDescription, secret: string): string | undefined {
  const derived = deriveKeys(selectForm(description, secret), secret);
  return derived.ok ? undefined : derived.problem;
}

function deriveHmacKeys(
  { key = { encoding: 'utf8' }, otherKeys = [] }: HmacDescription,
  secret: string,
): DerivedKeys {
  const derived = [key, ...otherKeys].map(derivation => deriveHmacKey(derivation, secret));
  const [first, ...others] = derived.flatMap(one => (one.ok ? one.keys : []));
  return first ? { ok: true, keys: [first, ...others] } : deriveHmacKey(key, secret);
}

function deriveHmacKey({ stripPrefix, unicodeForm, encoding }: KeyDerivation, secret: string): DerivedKeys {
  const stripped = stripPrefix && secret.startsWith(stripPrefix) ? secret.slice(stripPrefix.length) : secret;
  const text = unicodeForm ? stripped.normalize(unicodeForm) : stripped;
  const bytes = encoding === 'utf8' ? Buffer.from(text) : decodeStrictly(text, encoding);
  if (bytes && bytes.length > 0) return { ok: true, keys: [createSecretKey(bytes)] };
  const after = stripPrefix ? ` after ${stripPrefix}` : '';
  const problem =
    encoding === 'utf8' || text === '' ? `is empty${after}` : `is not valid ${encoding}${after}`;
  return { ok: false, problem: `the secret ${problem}` };
}

// RFC 8410 section 4: the SubjectPublicKeyInfo of an Ed25519 key is these bytes, then the 32 bytes of the key.
const ed25519Header = Buffer.from('302a300506032b6570032100', 'hex');

function parsePublicKey({ primitive, key }: PublicKeyDescription, secret: string): DerivedKeys {
  const { publicPrefix = '', privatePrefix } = key;
  if (privatePrefix && secret.startsWith(privatePrefix)) {
    const problem = `the secret is the sender's private key; use its public key, which starts with ${publicPrefix}`;
    return { ok: false, problem };
  }
  const text = secret.startsWith(publicPrefix) ? secret.slice(publicPrefix.length) : secret;
  const bytes = decodeStrictly(text, key.encoding);
  if (!bytes) return { ok: false, problem: `the public key is not valid ${key.encoding}` };
  const kind = primitive === 'ed25519' ? '32-byte Ed25519' : 'P-256';
  const der = primitive === 'ed25519' ? Buffer.concat([ed25519Header, bytes]) : bytes;
  try {
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const fits =
      primitive === 'ed25519'
        ? bytes.length === 32
        : publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    if (fits) return { ok: true, keys: [publicKey] };
  } catch {
    // Not a key at all, which is reported like a key of another kind.
  }
  return { ok: false, problem: `the public key is not a ${kind} key` };
}

// RFC 8410 section 7: the PrivateKeyInfo of an Ed25519 key is these bytes, then the 32 bytes of its seed.
const ed25519PrivateHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const ed25519SeedBytes = 32;

/** Parses a sender's private key: PKCS #8 PEM, or text with the scheme's prefix. Throws a TypeError for another text. */
export function parsePrivateKey({ key }: PublicKeyDescription, secret: string): KeyObject {
  const { privatePrefix, encoding } = key;
  try {
    if (!privatePrefix || !secret.startsWith(privatePrefix)) return createPrivateKey(secret);
    const bytes = decodeStrictly(secret.slice(privatePrefix.length), encoding) ?? Buffer.alloc(0);
    const der = Buffer.concat([ed25519PrivateHeader, bytes.subarray(0, ed25519SeedBytes)]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    const form = privatePrefix ? `, or as text that starts with ${privatePrefix}` : '';
    throw new TypeError(`signing requires the sender's private key as PKCS #8 PEM${form}`, { cause });
  }
}

/** Decodes text that is canonically encoded from start to end; undefined for any other text, and for empty text. */
export function decodeStrictly(text: string, encoding: 'hex' | 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const canonical = encoding === 'hex' ? text.toLowerCase() : text;
  return bytes.length > 0 && bytes.toString(encoding) === canonical ? bytes : undefined;
}
