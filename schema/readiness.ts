import { z } from 'zod';

/** The answer of `/readyz` on a daemon's management port. Other keys are for people. */
export const readinessShape = z.looseObject({
  status: z.enum(['ready', 'not ready']),
  /** The reason why deliveries cannot be accepted now. */
  reason: z.string().optional(),
  /** The id of this daemon process, which the home records too. */
  daemon: z.string(),
  factories: z.array(
    z.looseObject({
      factory: z.string(),
      /** The serial of the applied state that is served. */
      serial: z.int(),
      /** The reason why a newer applied state cannot be served. */
      problem: z.looseObject({ message: z.string() }).optional(),
    }),
  ),
});

export type Readiness = z.input<typeof readinessShape>;
