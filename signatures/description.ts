/** Describes how requests prove who sent them. It is data, which one verifier interprets for all schemes. */
export type SignatureDescription = SignedDescription | SharedSecretDescription;

export type SignedDescription = HmacDescription | PublicKeyDescription;

/** A provider's way of signing, with the facts that an engineer needs to set it up. */
export type SignatureScheme = SignatureDescription & SchemeFacts;

export interface SchemeFacts {
  /** The value of `signatureScheme:` in a definition. */
  readonly id: string;
  readonly provider: string;
  readonly kind: SchemeKind;
  /** The provider's documentation of its signatures. */
  readonly page: string;
  /** The place in the provider's settings that shows the secret. */
  readonly secretLocation: string;
  readonly secretCommand: SecretCommand;
  /** A warning or hint for engineers who choose this scheme. */
  readonly note?: string;
  /** The reason why a header that looks like a delivery ID does not identify deliveries. */
  readonly noIdentity?: string;
  /**
   * How the body identifies a delivery; set if no header does. A field must belong to the event, not to the object of the
   * event, and retries must keep it as far as the provider says.
   */
  readonly bodyIdentity?: BodyIdentity;
  /** The answer to a delivery if the provider asks for 200; otherwise, and if it asks for any 2xx, it is 202. */
  readonly success?: SuccessStatus;
  /** Whether the provider retries by itself, and how to make it send again; absent if that is not known. */
  readonly retries?: ProviderRetries;
  /** The headers that say what kind of event it is. Hardly any signature covers them. */
  readonly eventHeaders?: readonly string[];
  readonly checked: SchemeCheck;
  /** The request by which the provider checks a URL before it delivers there. */
  readonly handshake?: Handshake;
  /** Set if the provider's bodies are forms, not JSON. */
  readonly bodyFormat?: 'form';
  /** The field of those forms whose value is the payload, as JSON. */
  readonly payloadField?: string;
}

/** The part of a body that is the same in each retry of an event, and in no other event. */
export interface BodyIdentity {
  /** The path of the event's ID, or the paths that identify it together. Without one, the body is hashed. */
  readonly field?: string | readonly string[];
  /** A key that counts or marks retries. Its values are left out of the hash. */
  readonly hashWithout?: string;
  /** Why: what the provider says of the ID, or of its retries. */
  readonly reason: string;
  readonly source: FactSource;
}

/** What a provider's documentation asks for as the answer to a delivery. */
export interface SuccessStatus {
  readonly status: 200;
  /** Set if the provider shows the body of the answer to people, so that it must be empty. */
  readonly isEmpty?: true;
  readonly reason: string;
  readonly source: FactSource;
}

/** What a provider says about deliveries that fail. */
export interface ProviderRetries {
  readonly text: string;
  readonly source: FactSource;
}

/** The page or the code that says it, and the day on which it was read, as in 2026-11-25. */
export type FactSource = readonly [source: string, on: string];

/** The last comparison of a scheme's facts with their source. */
export interface SchemeCheck {
  /** The day, as in 2026-11-21. */
  readonly on: string;
  /**
   * The source: the provider's library and its version, its code or its documentation. Ends with `(rule only)` if no
   * test vector was made or accepted by anybody else.
   */
  readonly against: string;
}

/**
 * The command that creates the team secret: `generate` makes a value to give to the provider, `set` stores the value
 * that the provider shows, `declare` reserves the name until the provider issues a value for the ingress URL.
 */
export type SecretCommand = 'generate' | 'set' | 'declare';

export type SchemeKind =
  | 'standard'
  | 'webhook gateway'
  | 'source hosting'
  | 'hosting'
  | 'infrastructure'
  | 'ci'
  | 'code quality'
  | 'feature flags'
  | 'error tracking'
  | 'incident management'
  | 'monitoring'
  | 'payment'
  | 'banking'
  | 'blockchain'
  | 'project management'
  | 'productivity'
  | 'support and sales'
  | 'commerce'
  | 'messaging'
  | 'email'
  | 'identity'
  | 'content'
  | 'ai';

/** The handshakes of senders that do not sign: a definition names its sender's, because no scheme does. */
export const tokenHandshakes = ['event-grid', 'microsoft-graph', 'cloudevents'] as const;

export type Handshake =
  | (typeof tokenHandshakes)[number]
  | 'asana'
  | 'discord'
  | 'dropbox'
  | 'mandrill'
  | 'meta'
  | 'okta'
  | 'slack'
  | 'trello'
  | 'twitch'
  | 'woocommerce'
  | 'x'
  | 'zoom';

export const hmacHashes = ['sha1', 'sha256', 'sha512'] as const;
export const hmacEncodings = ['hex', 'base64', 'base64url'] as const;
export const secretEncodings = ['utf8', 'base64', 'hex'] as const;
/** `iso8601-utc` is a time without a zone, in UTC. */
export const timestampUnits = ['s', 'ms', 'iso8601', 'iso8601-utc'] as const;

export type SecretEncoding = (typeof secretEncodings)[number];
export type TimestampUnit = (typeof timestampUnits)[number];

/** An HMAC over the content. */
export interface HmacDescription extends HmacFields {
  readonly primitive: 'hmac';
  /** Other derivations of the key. A provider that changed its derivation still uses the old one for old secrets. */
  readonly otherKeys?: readonly KeyDerivation[];
  /** The scheme's public-key form, which a secret with one of its prefixes chooses. */
  readonly asymmetric?: AsymmetricForm;
  /** The sender's older signature of the same content. It is not accepted, but explained. */
  readonly older?: OlderSignature;
}

export interface OlderSignature {
  readonly header: string;
  readonly prefix: string;
  readonly hash: (typeof hmacHashes)[number];
}

/** The differences of a scheme if its sender signs with a private key. */
export interface AsymmetricForm {
  readonly primitive: PublicKeyDescription['primitive'];
  readonly encoding: PublicKeyDescription['encoding'];
  readonly list: SignatureList;
  readonly key: PublicKeyForm & { readonly publicPrefix: string; readonly privatePrefix: string };
}

/** `key` says how to derive the key from the secret; without it the key is the secret's UTF-8 bytes. */
export interface HmacFields extends SignatureHeaders {
  readonly hash: (typeof hmacHashes)[number];
  readonly encoding: (typeof hmacEncodings)[number];
  readonly key?: KeyDerivation;
}

/** Ed25519 (raw key and signature) or ECDSA on P-256 with SHA-256 (DER); the secret is the public key. */
export interface PublicKeyDescription extends SignatureHeaders {
  readonly primitive: 'ed25519' | 'ecdsa-p256';
  readonly encoding: 'hex' | 'base64';
  readonly key: PublicKeyForm;
}

export interface PublicKeyForm {
  readonly encoding: 'hex' | 'base64';
  /** Text before a public key. */
  readonly publicPrefix?: string;
  /** Text before a private key, which is then a seed of 32 bytes and may end with its public key. */
  readonly privatePrefix?: string;
}

/** No signature: a header contains the secret itself, as text or in base64. */
export interface SharedSecretDescription {
  readonly primitive: 'shared-secret';
  readonly header: string;
  readonly encoding: 'text' | 'base64';
  readonly prefix?: string;
  readonly deliveryIdHeader?: string;
}

/** The places of a signature's parts in a request. Header names are written as the provider writes them. */
export interface SignatureHeaders {
  readonly header: string;
  /** Text before the signature, for instance `sha256=`. */
  readonly prefix?: string;
  /** The header is a list of items, some of which are signatures; one match is enough. */
  readonly list?: SignatureList;
  /** The signed content: a template (see `parseTemplate`), or a form that no template can describe. */
  readonly content: string | CanonicalContent;
  readonly timestamp?: SignatureTimestamp;
  /** The header whose value replaces {id}. It is also the delivery's identity. */
  readonly idHeader?: string;
  /** The header with the sender's delivery ID. Set only if retries keep the same ID. */
  readonly deliveryIdHeader?: string;
  /** Headers with fixed values that the sender adds, because the signature covers them. */
  readonly signedHeaders?: Readonly<Record<string, string>>;
  /** Other names of the same headers. Names from different sets are never combined. */
  readonly alternatives?: readonly HeaderNames[];
}

/** Content that no template describes, because it is made of parts of the request in an order of their own. */
export interface CanonicalContent {
  readonly canonical: 'contentful' | 'url-and-form';
}

/** The items of a list have keys if `keyValueSeparator` and `key` are set. Otherwise each item is a signature. */
export interface SignatureList {
  readonly separator: string;
  readonly keyValueSeparator?: string;
  /** The key of the items that are signatures. Other items are ignored, so that a sender may add a scheme. */
  readonly key?: string;
}

/** Exactly one of `header`, `field`, `item` and `body` is set. */
export interface SignatureTimestamp {
  readonly header?: string;
  /** The key of an item in the signature's list. */
  readonly field?: string;
  /** The place in a list without keys. */
  readonly item?: 'first';
  /** A dotted path into the JSON. */
  readonly body?: string;
  readonly unit: TimestampUnit;
  /** Largest distance from the current time, past or future. Absent if the provider documents no window. */
  readonly toleranceSeconds?: number;
}

export interface KeyDerivation {
  /** Removed from the start of the secret if it is there. */
  readonly stripPrefix?: string;
  /** The Unicode form into which the secret is brought before it is encoded as UTF-8. */
  readonly unicodeForm?: 'NFKD';
  readonly encoding: SecretEncoding;
}

export interface HeaderNames {
  readonly header: string;
  readonly timestampHeader?: string | undefined;
  readonly idHeader?: string | undefined;
  readonly deliveryIdHeader?: string | undefined;
}
