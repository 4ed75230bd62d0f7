import { secretNamePattern, secretNameRule } from '../schema/secret-name.ts';
import { StoreError } from './store-error.ts';

/** @limit Longest value of a team secret, in bytes: a private key in PEM fits, a file given by mistake does not. */
const secretBytesMax = 8 * 1024;

/** The team secrets, shared by all factories. Values are kept sealed. */
export interface TeamSecrets {
  /** Gives a team secret a value. The same value again changes nothing. */
  set(name: string, value: string): Promise<void>;
  /**
   * Creates a team secret, with a value or declared without one: webhooks can then name it before the provider has
   * issued its value. Fails with `secret-in-use` where there is one of this name already.
   */
  create(name: string, value: string | undefined): Promise<void>;
  /** Fails with `secret-in-use` while a webhook of any factory refers to it. */
  remove(name: string): Promise<void>;
  /** All team secrets by name, without their values. */
  list(): Promise<TeamSecretInfo[]>;
  /** The names of all team secrets, by name. */
  names(): Promise<string[]>;
  /** Those of the named team secrets that exist, opened. */
  open(names: Iterable<string>): Promise<Map<string, TeamSecret>>;
}

/** What may be shown of a team secret: never its value. */
export interface TeamSecretInfo {
  readonly name: string;
  readonly state: 'set' | 'declared';
  readonly updatedAt: string;
  readonly usedBy: readonly { readonly factory: string; readonly webhook: string }[];
}

/** A team secret as an apply sees it. The version changes with the value; a declared one has neither. */
export interface TeamSecret {
  readonly name: string;
  readonly value?: { readonly version: string; readonly text: string };
}

/** Fails with `secret-invalid`. */
export function requireSecretName(name: string): void {
  if (secretNamePattern.test(name)) return;
  const message = `"${name}" cannot name a team secret: use ${secretNameRule}`;
  throw new StoreError('secret-invalid', message);
}

/** Fails with `secret-invalid`. */
export function requireSecretValue(value: string): void {
  if (value.trim() === '') throw new StoreError('secret-invalid', 'a team secret cannot be empty');
  if (Buffer.byteLength(value) > secretBytesMax) {
    throw new StoreError('secret-invalid', `a team secret has at most ${secretBytesMax} bytes`);
  }
}
