import type { SenderState } from '../../schema/sender.ts';

/** Returns the same object to leave the state as it is. */
export type ChangeSenderState = (state: SenderState) => SenderState;

/** The last answers of the providers of each factory's webhooks, and the requests to send events again. */
export interface SenderStates {
  /** The states of the webhooks whose providers were asked. */
  read(factory: string): Promise<readonly SenderState[]>;
  /** Keeps what was learned about one webhook, under the factory's lock, and returns its state. Fails with `locked`. */
  learn(factory: string, uid: string, change: ChangeSenderState): Promise<SenderState>;
  /** Does the same before something is changed at a provider: for a person, that is in the audit log. */
  act(factory: string, uid: string, change: ChangeSenderState): Promise<SenderState>;
}
