import type { HealthView } from '../../operations/health/show-health.ts';
import type { PlanView } from '../../operations/views/plan-view.ts';
import type { CallOperation } from '../../schema/api/call.ts';
import type { Commit } from '../../schema/commit.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { DaemonHealth } from './daemon-health.ts';

export type WebhookHealth = HealthView['webhooks'][number];

/**
 * What commands use of one factory: on a store that this machine reaches, or through the management API of a daemon.
 * Operations are the same for both, and fail with the same `Refusal`. The rest needs files of this machine.
 */
export interface Backend {
  /** Distinguishes it from other backends: the URL of the server or database, or the home. May contain a password. */
  readonly source: string;
  /** Calls an operation on the factory. */
  readonly call: CallOperation;
  /** Asks the daemon whether it is ready and serves the serial. */
  showDaemon(serial: number): Promise<DaemonHealth>;
  /** Plans the definitions directory. */
  plan(options: PlanRequest): Promise<PlanResult>;
  /** Applies the definitions directory, or reconciles a home's factory that follows a branch. */
  apply(options: ApplyRequest): Promise<ApplyResult>;
  /** Finds a run's directory and the file of its output; undefined if they are on another machine. */
  findRunFiles(
    id: string,
  ): { readonly directory: string; readonly outputFile: string | undefined } | undefined;
}

export interface PlanRequest {
  /** Adds to each change its impact on senders and runs. */
  readonly withImpact: boolean;
  /** Writes the plan to this file, for a later `apply`. Works only on a home. */
  readonly out?: string | undefined;
  readonly onNote: (note: string) => void;
}

export interface PlanResult extends ReadDefinitions {
  /** Whether the definitions have no errors, and a reconcile would refuse nothing of them. */
  readonly ok: boolean;
  /** The plan of the definitions without errors. */
  readonly plan: PlanView;
}

export interface ApplyRequest {
  /** A file that `plan` wrote. Applies exactly that plan, or fails. Works only on a home. */
  readonly planFile: string | undefined;
  readonly dryRun: boolean;
  /** Also applies to a factory that is managed in the dashboard or follows a branch. */
  readonly adopt: boolean;
  /** The names of webhooks that get a new UID instead of their former one. Fails if one would not be restored. */
  readonly newUids: readonly string[] | undefined;
  /** Asks whether to apply changes that need a confirmation. Not called for a plan file, because that was reviewed. */
  readonly confirm: (showPlan: () => Promise<PlanView>) => Promise<boolean>;
  readonly onNote: (note: string) => void;
}

export type ApplyResult = ReadDefinitions &
  (
    | { readonly result: 'invalid' }
    | { readonly result: 'declined' }
    | {
        readonly result: 'applied' | 'unchanged' | 'dry-run';
        readonly plan: PlanView;
        /** The commit that was applied, if the factory follows a branch. */
        readonly tip?: Commit;
        /** Every webhook after the apply. */
        readonly webhooks: readonly { readonly name: string; readonly url: string }[];
      }
  );

/** The mistakes in the definitions, and the texts of their files for code frames. */
interface ReadDefinitions {
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Reads the health of the webhooks, or of the one with this UID, by UID, and the automations that are paused. Empty if the
 * log cannot be read, so that everything else is still shown.
 */
export async function readHealth(
  backend: Pick<Backend, 'call'>,
  uid?: string,
): Promise<{ readonly byUid: ReadonlyMap<string, WebhookHealth>; readonly pauses: HealthView['pauses'] }> {
  const { webhooks, pauses } = await backend
    .call('showHealth', { query: { webhook: uid } })
    .catch((): Pick<HealthView, 'webhooks' | 'pauses'> => ({ webhooks: [], pauses: [] }));
  return { byUid: new Map(webhooks.map(webhook => [webhook.uid, webhook])), pauses };
}
