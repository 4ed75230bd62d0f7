import type { z } from 'zod';
import type * as shapes from '../schema/api/answers.ts';

/** What the management API tells, by the names that the pages use. */
export type Identity = z.output<typeof shapes.identityShape>;
export type Factories = z.output<typeof shapes.factoriesShape>;
export type Status = z.output<typeof shapes.statusShape>;
export type Webhook = z.output<typeof shapes.webhookShape>;
export type WebhookDetail = z.output<typeof shapes.webhookDetailShape>;
export type Revealed = z.output<typeof shapes.revealedShape>;
export type Activity = z.output<typeof shapes.activityShape>;
export type WebhookActivity = Activity['webhooks'][number];
export type Automation = z.output<typeof shapes.automationShape>;
export type AutomationDetail = z.output<typeof shapes.automationDetailShape>;
export type Verdict = z.output<typeof shapes.verdictShape>;
export type TriggerVerdict = Verdict['triggers'][number];
export type Delivery = z.output<typeof shapes.deliveryShape>;
export type DeliveryDetail = z.output<typeof shapes.deliveryDetailShape>;
export type LiveDeliveries = z.output<typeof shapes.liveDeliveriesShape>;
export type Run = z.output<typeof shapes.runShape>;
export type Secret = z.output<typeof shapes.secretShape>;
export type Scheme = z.output<typeof shapes.schemeShape>;
export type Diagnostic = z.output<typeof shapes.diagnosticShape>;
export type Instead = z.output<typeof shapes.insteadShape>;
