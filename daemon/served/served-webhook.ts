import type { FormFormat } from '../../schema/delivery.ts';
import type { compileIdentity } from '../../schema/identity.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import type { SuccessStatus } from '../../signatures/description.ts';
import type { AppliedStateRef } from '../../store/ports/delivery-log.ts';
import type { Authenticator } from '../authentication/ingress-request.ts';
import type { RunMatcher } from './run-matcher.ts';

/** A webhook of an applied state, ready to receive: everything that does not depend on a request is prepared. */
export interface ServedWebhook {
  readonly factory: string;
  readonly name: string;
  readonly uid: string;
  readonly authMode: AuthMode;
  readonly identify: ReturnType<typeof compileIdentity>;
  /** The names of the headers that are kept of its deliveries, in lower case. */
  readonly keptHeaders: readonly string[];
  readonly authenticator: Authenticator;
  /** Undefined if its bodies are JSON. */
  readonly form: FormFormat | undefined;
  /** The auth mode or signature scheme that verifies its deliveries, as the log shows it. */
  readonly authenticatedBy: string;
  /** The answer to an accepted delivery, and to a duplicate. */
  readonly success: Pick<SuccessStatus, 'isEmpty'> & { readonly status: 200 | 202 };
  readonly appliedState: AppliedStateRef;
  readonly matchRuns: RunMatcher;
}
