import type { ApiProblemCode } from '../schema/api/problems.ts';
import type { RouteAnswer } from '../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../schema/api/routes.ts';
import type { RefusalParts } from '../schema/refusal.ts';

type AnswerTo<O extends OperationId> = RouteAnswer<ApiRoutes[O]>;

export type Account = AnswerTo<'whoAmI'>;
export type ShownSession = AnswerTo<'listSessions'>['sessions'][number];
export type FactoryList = AnswerTo<'listFactories'>;
export type ShownStatus = AnswerTo<'showStatus'>;
export type ShownAttention = ShownStatus['attention'][number];
export type ListedWebhook = AnswerTo<'listWebhooks'>['webhooks'][number];
export type ShownWebhook = AnswerTo<'showWebhook'>;
export type CreatedWebhook = AnswerTo<'createWebhook'>;
export type HealthOverview = AnswerTo<'showHealthOverview'>;
export type FactoryHealth = AnswerTo<'showHealth'>;
export type TalliedWebhook = AnswerTo<'showHealth'>['webhooks'][number];
export type ShownSender = AnswerTo<'listSenders'>['senders'][number];
export type ShownHealth = NonNullable<TalliedWebhook['health']>;
export type OpenAlerts = AnswerTo<'listOpenAlerts'>;
export type ShownRunTallies = AnswerTo<'showRunTallies'>;
export type ListedAutomation = AnswerTo<'listAutomations'>['automations'][number];
export type ShownAutomation = AnswerTo<'showAutomation'>;
export type ShownPause = AnswerTo<'listPauses'>['pauses'][number];
export type ListedRunner = AnswerTo<'listRunners'>['runners'][number];
export type PlannedChange = AnswerTo<'planAutomation'>['change'];
export type ExplainedWhy = AnswerTo<'explainWhy'>;
export type ListedDelivery = AnswerTo<'listDeliveries'>['deliveries'][number];
export type ShownDelivery = AnswerTo<'showDelivery'>;
export type ShownRun = AnswerTo<'showRun'>;
export type ListedSecret = AnswerTo<'listSecrets'>['secrets'][number];
export type ListedChange = AnswerTo<'listAudit'>['entries'][number];
export type CreatedToken = AnswerTo<'createToken'>;
export type ListedToken = AnswerTo<'listTokens'>['tokens'][number];
export type ListedScheme = AnswerTo<'listSchemes'>['schemes'][number];
export type ShownAlert = AnswerTo<'listAlerts'>['alerts'][number];
export type ShownReceiver = AnswerTo<'listAlerts'>['receivers'][number];
export type ShownDaemon = AnswerTo<'showDaemon'>;
export type StoredTest = AnswerTo<'testOnStored'>;
export type DescribedPayloads = AnswerTo<'describePayloads'>;
export type SentTest = AnswerTo<'sendTest'>;

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
