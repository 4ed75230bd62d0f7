import type { z } from 'zod';
import type { redeliverAnswer } from '../../schema/api/answers.ts';
import type { redeliverRequest } from '../../schema/api/requests.ts';

/** The result of one look at the provider of a webhook. */
export interface Watched {
  /** Why the provider could not be asked or read; null: it was. */
  readonly problem: string | null;
  /** Events to ask for, in the order in which they happened: only with `recover: true`. */
  readonly toAsk: RedeliverRequest['events'];
  /** When its log was read, in ms. */
  readonly listedAtMs: number;
}

export type RedeliverRequest = z.output<typeof redeliverRequest>;
export type Redelivered = z.output<typeof redeliverAnswer>;

/** The result of one part of a recovery, or why the provider could not be asked. */
export type Recovered = Redelivered | { readonly problem: string };
