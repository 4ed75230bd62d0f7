import type { SignedRequest } from './verify.ts';

/** How requests prove who sent them: data that one verifier runs. */
export type SignatureDescription = SignedDescription | SharedSecretDescription;

export type SignedDescription = HmacDescription | PublicKeyDescription;

/** A provider's way of signing, with what an engineer needs to set it up. */
export type SignatureScheme = SignatureDescription & SchemeFacts;

export interface SchemeFacts {
  /** What `signatureScheme:` names. */
  readonly id: string;
  readonly provider: string;
  readonly kind: SchemeKind;
  /** The provider's own page about it. */
  readonly page: string;
  /** Where the provider's settings show the secret. */
  readonly secretLocation: string;
  readonly secretCommand: SecretCommand;
  /** What an engineer should know before choosing it. */
  readonly note?: string;
  /** What the provider asks of a URL before it delivers there. */
  readonly handshake?: Handshake;
}

/**
 * How a sender's team secret is made, by the name of the command: generated here and given to the provider, set to
 * what the provider shows, or declared until the provider has issued it to the ingress URL.
 */
export type SecretCommand = 'generate' | 'set' | 'declare';

export type SchemeKind =
  | 'standard'
  | 'source hosting'
  | 'hosting'
  | 'payment'
  | 'error tracking'
  | 'incident management'
  | 'ci'
  | 'project management'
  | 'productivity'
  | 'support and sales'
  | 'messaging'
  | 'email'
  | 'identity'
  | 'content'
  | 'ai'
  | 'commerce';

export type Handshake = 'asana' | 'discord' | 'dropbox' | 'meta' | 'okta' | 'slack' | 'twitch' | 'x' | 'zoom';

/** An HMAC over the content. `key` is derived from the secret; without it the secret's UTF-8 bytes are the key. */
export interface HmacDescription extends SignatureHeaders {
  readonly primitive: 'hmac';
  readonly hash: 'sha1' | 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly key?: KeyDerivation;
}

/** Ed25519 (raw key and signature) or ECDSA on P-256 with SHA-256 (DER); the secret is the public key. */
export interface PublicKeyDescription extends SignatureHeaders {
  readonly primitive: 'ed25519' | 'ecdsa-p256';
  readonly encoding: 'hex' | 'base64';
  readonly key: { readonly encoding: 'hex' | 'base64' };
}

/** No signature: the secret itself stands in a header, as text or in base64. */
export interface SharedSecretDescription {
  readonly primitive: 'shared-secret';
  readonly header: string;
  readonly encoding: 'text' | 'base64';
  readonly prefix?: string;
  readonly deliveryIdHeader?: string;
}

/** Where the parts of a signature stand in a request. Header names are written as the provider writes them. */
export interface SignatureHeaders {
  readonly header: string;
  /** Text before the signature, for instance `sha256=`. */
  readonly prefix?: string;
  /** The header is a list of items, some of which are signatures; one that matches suffices. */
  readonly list?: SignatureList;
  /** What is signed: a template over {body} {timestamp} {id} {url} {method}, or code where no template can say it. */
  readonly content: string | SignedContent;
  readonly timestamp?: SignatureTimestamp;
  /** The header that {id} stands for. It is also the delivery's identity. */
  readonly idHeader?: string;
  /** The sender's delivery id, where its retries keep it. */
  readonly deliveryIdHeader?: string;
  /** Headers that the sender adds because the content is made of them. */
  readonly signedHeaders?: Readonly<Record<string, string>>;
  /** Other names of the same headers. The names of one set belong together and are never mixed with another's. */
  readonly alternatives?: readonly HeaderNames[];
}

export interface SignatureList {
  readonly separator: string;
  readonly keyValueSeparator: string;
  /** The items that are signatures. Others are ignored, so that a sender may add a scheme. */
  readonly key: string;
}

/** Stands in exactly one place: a header, a field of the signature's list, or the JSON body, at a dotted path. */
export interface SignatureTimestamp {
  readonly header?: string;
  readonly field?: string;
  readonly body?: string;
  readonly unit: TimestampUnit;
  /** Seconds it may be old, and ahead. Absent where the provider names no window. */
  readonly toleranceSeconds?: number;
}

export type TimestampUnit = 's' | 'ms' | 'iso8601';

export interface KeyDerivation {
  /** Taken off the secret's start if it is there. */
  readonly stripPrefix?: string;
  readonly encoding: 'utf8' | 'base64' | 'hex';
}

export interface HeaderNames {
  readonly header: string;
  readonly timestampHeader?: string | undefined;
  readonly idHeader?: string | undefined;
  readonly deliveryIdHeader?: string | undefined;
}

/** The signed pieces in order; undefined if the request lacks what they are made of. */
export type SignedContent = (request: SignedRequest) => readonly (string | Buffer)[] | undefined;
