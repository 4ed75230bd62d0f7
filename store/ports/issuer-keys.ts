import { z } from 'zod';

/** A public key of an issuer (RFC 7517), without what only private keys have. Other members are dropped. */
const issuerKeyShape = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
});

export type IssuerKey = z.output<typeof issuerKeyShape>;

/** Picks the public keys of a key set that could verify tokens: other kinds may stand beside them (RFC 7517, section 5). */
export function pickIssuerKeys(keys: readonly unknown[]): IssuerKey[] {
  return keys.flatMap(key => {
    const parsed = issuerKeyShape.safeParse(key);
    return parsed.success ? [parsed.data] : [];
  });
}

const issuerShape = z.strictObject({
  issuer: z.string(),
  /** The keys that were fetched last; none if they never were. */
  keys: z.array(issuerKeyShape),
  /** The failure of the last attempts; null if the last one succeeded. */
  failure: z.strictObject({ since: z.string(), reason: z.string() }).nullable(),
});

export type StoredIssuer = z.output<typeof issuerShape>;

export const issuerKeysShape = z.strictObject({ formatVersion: z.literal(1), issuers: z.array(issuerShape) });

/** The keys of the issuers of OpenID Connect tokens, as they were fetched last. */
export type IssuerKeysState = z.output<typeof issuerKeysShape>;

/** Keeps the keys, so that a daemon that is restarted can verify tokens while an issuer is down. */
export interface StoredIssuerKeys {
  read(): Promise<IssuerKeysState>;
  /** Replaces what is kept of one issuer. Fails with `locked`. */
  keep(issuer: StoredIssuer): Promise<void>;
}
