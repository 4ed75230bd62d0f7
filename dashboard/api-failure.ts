import type { ApiProblemCode } from '../schema/api/problems.ts';
import type { RefusalParts } from '../schema/refusal.ts';

/** The body of every refusal (RFC 9457). */
export interface ProblemDetails extends RefusalParts {
  readonly title: string;
  readonly status: number;
  readonly code: ApiProblemCode;
}

/** The management API refused a request, and `problem` says why; without one, the API could not be reached. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly problem: ProblemDetails | undefined;

  /** Whether the page itself says so and reads again: the daemon is away, or the session has expired. */
  readonly passes: boolean;

  constructor(
    message: string,
    problem?: ProblemDetails,
    options?: ErrorOptions & { readonly isAway?: true },
  ) {
    super(message, options);
    this.problem = problem;
    this.passes = options?.isAway ?? problem?.status === 401;
  }
}
