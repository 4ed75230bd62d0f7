import type { DeliveryLogReader } from './reader.ts';

/** What the query thread can be asked: what a reader can, less closing it. */
export type QueryVerb = Exclude<keyof DeliveryLogReader, 'close'>;

export interface Query {
  readonly id: number;
  readonly verb: QueryVerb;
  readonly arguments: readonly unknown[];
}

export type QueryAnswer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string };
