import type { SenderState } from '../../schema/sender.ts';

/** What was learned from providers of the webhooks of each factory, and asked of them. */
export interface SenderStates {
  /** The states of the webhooks whose providers were asked. */
  read(factory: string): Promise<readonly SenderState[]>;
  /** Changes the state of one webhook under the factory's lock, and returns it. Fails with `locked`. */
  change(factory: string, uid: string, change: (state: SenderState) => SenderState): Promise<SenderState>;
}
