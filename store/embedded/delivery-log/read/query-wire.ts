import type { DeliveryLogReader } from '../../../delivery-log.ts';

/** The questions that the query thread answers. */
export type QueryVerb = keyof DeliveryLogReader;

export interface Query {
  readonly id: number;
  readonly verb: QueryVerb;
  readonly arguments: readonly unknown[];
}

export type QueryAnswer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string };
