import type { Command } from 'commander';
import type { ListedAudit } from '../../operations/audit.ts';
import type { ListedAutomations } from '../../operations/automations.ts';
import type { TestedAutomation, TestedDelivery } from '../../operations/deliveries.ts';
import type { HealthView } from '../../operations/health/show-health.ts';
import type { LogFilter } from '../../operations/log-filter.ts';
import type { ListPosition, Page } from '../../operations/page.ts';
import type { PayloadsView } from '../../operations/payloads.ts';
import type { ManualEvent, runByHand } from '../../operations/run-by-hand.ts';
import type { AppliedStatus } from '../../operations/status.ts';
import type { UnloggedView } from '../../operations/unlogged.ts';
import type {
  DeliveryDetail,
  DeliveryView,
  FilterTestView,
  RunView,
} from '../../operations/views/delivery-views.ts';
import type { PlanView } from '../../operations/views/plan-view.ts';
import type { WhyView } from '../../operations/views/why-view.ts';
import type { ListedWebhooks } from '../../operations/webhooks.ts';
import type { Commit } from '../../schema/commit.ts';
import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { Place } from '../global-options.ts';
import type { DaemonHealth } from './daemon-health.ts';

/**
 * The operations on one factory that commands use. They work on a home on this machine, or through the management API
 * of a daemon. Both fail with the same `Refusal`.
 */
export interface Backend {
  /** Distinguishes it from other backends: the URL of the server or database, or the home. May contain a password. */
  readonly source: string;
  showStatus(): Promise<AppliedStatus>;
  /** Asks the daemon whether it is ready and serves the serial. */
  showDaemon(serial: number): Promise<DaemonHealth>;
  /** Plans the definitions directory. */
  plan(options: PlanRequest): Promise<PlanResult>;
  /** Applies the definitions directory, or reconciles a home's factory that follows a branch. */
  apply(options: ApplyRequest): Promise<ApplyResult>;
  listWebhooks(): Promise<ListedWebhooks>;
  listAutomations(): Promise<ListedAutomations>;
  /** Tests an automation, which may be a draft, with a stored delivery or a payload. */
  testFilter(tested: TestedAutomation, delivery: TestedDelivery): Promise<FilterTestView>;
  /** Starts a run of an applied automation, or of a draft. */
  runByHand(wanted: string | AutomationDefinition, event: ManualEvent): ReturnType<typeof runByHand>;
  /** Describes the payloads that the webhook with this UID received. */
  describePayloads(uid: string): Promise<PayloadsView>;
  /** Reads a page of deliveries: see `Page`. */
  listDeliveries(wanted: LogFilter & ListPosition): Promise<Page<DeliveryView>>;
  /** Counts the refused requests of the last hour that have no row: of the webhook with this name or UID, or of all. */
  listUnlogged(webhook: string | undefined): Promise<UnloggedView>;
  /** Shows the health of each webhook, or of the one with this UID, and its deliveries of the last seven days. */
  showHealth(uid?: string): Promise<HealthView>;
  /** Explains the last request of a webhook (name or UID), or a delivery. */
  explainWhy(subject: string): Promise<WhyView>;
  showDelivery(id: string): Promise<DeliveryDetail>;
  /** Reads the exact bytes of a stored body. */
  readPayload(id: string): Promise<Uint8Array>;
  /** Reads the output of all attempts at a run, from a byte on. */
  readRunOutput(id: string, from?: number): Promise<Uint8Array>;
  /** Reads a file that a run left. */
  readArtifact(id: string, name: string): Promise<Uint8Array>;
  /** Starts new runs from a stored payload, for all matching automations or only for one. */
  replayDelivery(id: string, only: string | undefined): Promise<readonly StartedRun[]>;
  listRuns(wanted: Omit<LogFilter, 'outcome'> & ListPosition): Promise<Page<RunView>>;
  /** Lists who changed what, newest first. */
  listAudit(wanted: ListPosition): Promise<ListedAudit>;
  showRun(id: string): Promise<RunView>;
  retryRun(id: string): Promise<RunView>;
  dismissRun(id: string): Promise<RunView>;
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

export type PlanResult = ReadDefinitions &
  ({ readonly ok: true; readonly plan: PlanView } | { readonly ok: false });

export interface ApplyRequest {
  /** A file that `plan` wrote. Applies exactly that plan, or fails. Works only on a home. */
  readonly planFile: string | undefined;
  readonly dryRun: boolean;
  /** Also applies to a factory that is managed in the dashboard or follows a branch. */
  readonly adopt: boolean;
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

interface StartedRun {
  readonly id: string;
  readonly automation: string;
}

/** Chooses and opens the backend of a command. */
export type OpenBackend = (command: Command) => Promise<Place & { readonly backend: Backend }>;
