import type { RouteAnswer } from '../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../schema/api/routes.ts';

type AnswerTo<O extends OperationId> = RouteAnswer<ApiRoutes[O]>;

export type Account = AnswerTo<'whoAmI'>;
export type ShownSession = AnswerTo<'listSessions'>['sessions'][number];
export type FactoryList = AnswerTo<'listFactories'>;
export type ShownStatus = AnswerTo<'showStatus'>;
export type ListedWebhook = AnswerTo<'listWebhooks'>['webhooks'][number];
export type ShownWebhook = AnswerTo<'showWebhook'>;
export type CreatedWebhook = AnswerTo<'createWebhook'>;
export type HealthOverview = AnswerTo<'showHealthOverview'>;
export type TalliedWebhook = AnswerTo<'showHealth'>['webhooks'][number];
export type ShownSender = AnswerTo<'listSenders'>['senders'][number];
export type ShownHealth = NonNullable<TalliedWebhook['health']>;
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
export type ListedToken = AnswerTo<'listTokens'>['tokens'][number];
export type ListedScheme = AnswerTo<'listSchemes'>['schemes'][number];
