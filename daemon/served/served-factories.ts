import type { FactoryView } from '../../operations/views/applied-views.ts';

/** A factory as it is served. With a `problem`, the last good state is still served. */
export interface ServedFactory {
  readonly factory: string;
  readonly serial: number;
  readonly webhooks: number;
  /** The names of the applied automations. */
  readonly automations: readonly string[];
  readonly problem?: { readonly message: string; readonly since: string };
}

/** The applied states that the ingress serves. */
export interface ServedFactories {
  /** Finds the view of a factory that is served; undefined if it never had a state. */
  findView(factory: string): FactoryView | undefined;
  /** Resolves when everything that was stored before the call, maybe only for one factory, is served. */
  refresh(factory?: string): Promise<void>;
  status(): ServedFactory[];
}
