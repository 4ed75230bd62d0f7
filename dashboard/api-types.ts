import type { z } from 'zod';
import type * as answers from '../schema/api/answers.ts';

/** What the management API tells, by the names that the pages use. */
export type Identity = z.output<typeof answers.identityAnswer>;
export type Factories = z.output<typeof answers.factoriesAnswer>;
export type Status = z.output<typeof answers.statusAnswer>;
export type Webhook = z.output<typeof answers.webhookAnswer>;
export type WebhookDetail = z.output<typeof answers.webhookDetailAnswer>;
export type Revealed = z.output<typeof answers.revealedAnswer>;
export type Activity = z.output<typeof answers.activityAnswer>;
export type WebhookActivity = Activity['webhooks'][number];
export type Automation = z.output<typeof answers.automationAnswer>;
export type AutomationDetail = z.output<typeof answers.automationDetailAnswer>;
export type Verdict = z.output<typeof answers.verdictAnswer>;
export type Delivery = z.output<typeof answers.deliveryAnswer>;
export type DeliveryDetail = z.output<typeof answers.deliveryDetailAnswer>;
export type LiveDeliveries = z.output<typeof answers.liveDeliveriesAnswer>;
export type Run = z.output<typeof answers.runAnswer>;
export type Secret = z.output<typeof answers.secretAnswer>;
export type Scheme = z.output<typeof answers.schemeAnswer>;
