import { secretNamePattern, secretNameRule } from '../schema/secret-name.ts';
import { StoreError } from './store-error.ts';

/** @limit Longest value of a team secret, in bytes: a private key in PEM fits, a file passed by mistake does not. */
const secretBytesMax = 8 * 1024;

/** The team secrets, shared by all factories. Values are stored sealed. */
export interface TeamSecrets {
  /** Sets the value of a team secret, which need not exist yet. Setting the same value again changes nothing. */
  set(name: string, value: string): Promise<void>;
  /**
   * Creates a team secret. Without a value it is declared: webhooks can name it before the provider has issued the
   * value. Fails with `secret-taken` if the name exists.
   */
  create(name: string, value: string | undefined): Promise<void>;
  /** Fails with `secret-in-use` while a webhook of any factory names it, or with `secret-unknown`. */
  remove(name: string): Promise<void>;
  /** All team secrets by name, without their values. */
  list(): Promise<TeamSecretInfo[]>;
  /** The names of all team secrets, sorted. */
  listNames(): Promise<string[]>;
  /** Opens the named team secrets, with their values. Leaves out those that do not exist. */
  open(names: Iterable<string>): Promise<Map<string, TeamSecret>>;
}

/** A team secret as it may be shown: without its value. */
export interface TeamSecretInfo {
  readonly name: string;
  readonly state: 'set' | 'declared';
  readonly updatedAt: string;
  readonly usedBy: readonly { readonly factory: string; readonly webhook: string }[];
}

/** A team secret as an apply sees it. Each new value has a new version; a declared secret has neither. */
export interface TeamSecret {
  readonly name: string;
  readonly value?: { readonly version: string; readonly text: string };
}

/** Fails with `secret-invalid`. */
export function requireSecretName(name: string): void {
  if (secretNamePattern.test(name)) return;
  const message = `"${name}" is not a valid name for a team secret; use ${secretNameRule}`;
  throw new StoreError('secret-invalid', message);
}

/** Fails with `secret-invalid`. */
export function requireSecretValue(value: string): void {
  if (value.trim() === '') throw new StoreError('secret-invalid', 'a team secret cannot be empty');
  if (Buffer.byteLength(value) > secretBytesMax) {
    throw new StoreError('secret-invalid', `a team secret cannot be longer than ${secretBytesMax} bytes`);
  }
}
