import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';
import type { ProblemCode } from './problems.ts';

/** How the ingress answers a request. */
export type IngressOutcome =
  | {
      readonly result: 'accepted' | 'duplicate';
      readonly webhook: ServedWebhook;
      readonly deliveryId: string;
    }
  | {
      readonly result: 'handshake';
      readonly webhook: ServedWebhook;
      readonly handshake: HandshakeAnswer;
      /** ID of the row in the delivery log, if the handshake has one. */
      readonly deliveryId?: string;
    }
  | {
      readonly result: 'refused';
      readonly webhook?: ServedWebhook;
      readonly problem: ProblemCode;
      readonly retryAfterSeconds?: number;
      /** ID of the row in the delivery log, if the refusal has one. */
      readonly deliveryId?: string;
      readonly cause?: unknown;
    };
