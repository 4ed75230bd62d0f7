import type { z } from 'zod';
import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { renderAutomationYaml, renderWebhookYaml } from '../../schema/definitions/definition-yaml.ts';
import { judgeTrigger, listListeners } from '../../schema/definitions/judge-trigger.ts';
import { factoryBytesMax } from '../../schema/factory-size.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import { redactHeaders, redactPayload } from '../../schema/payloads/redact-payload.ts';
import type { definitionsAnswer } from '../../schema/views/plans.ts';
import { getDefinitionPath, getFixturePath } from '../../sources/definitions.ts';
import type { OpenFactory } from '../factory.ts';
import { openHistory, type PastDelivery } from '../impact/history.ts';

export type ExportedDefinitions = z.output<typeof definitionsAnswer>;
type ExportedFile = ExportedDefinitions['files'][number];

/** @limit Most stored deliveries of a webhook that an export looks at for fixtures, newest first: most filters decide both ways within them. */
const fixtureDeliveriesMax = 50;
/** @limit Largest payload of an exported fixture, in bytes (64 KiB): people read and change fixtures. */
const fixturePayloadBytesMax = 64 * 1024;

/**
 * Renders the applied state as the definition files that would make it, so that a plan of them has no changes. With
 * `fixtures`, adds for each automation and webhook the newest stored delivery that triggers the automation, and the
 * newest that does not, without anything that looks secret. Fails with a DeliveryLogError if they cannot be read.
 */
export async function exportDefinitions(
  factory: OpenFactory,
  { fixtures }: { readonly fixtures: boolean },
): Promise<ExportedDefinitions> {
  const state = await factory.readState();
  const { webhooks, automations, serial } = state;
  const files = [
    ...webhooks.map(webhook => ({
      path: getDefinitionPath('webhook', webhook.name),
      content: renderWebhookYaml(webhook),
    })),
    ...automations.map(automation => ({
      path: getDefinitionPath('automation', automation.name),
      content: renderAutomationYaml(automation, webhooks),
    })),
  ];
  return { serial, files: fixtures ? [...files, ...(await makeFixtures(factory, state))] : files };
}

async function makeFixtures(factory: OpenFactory, { webhooks, automations }: AppliedState) {
  const history = openHistory(factory);
  const made: ExportedFile[] = [];
  let bytes = 0;
  for (const webhook of webhooks) {
    const wanted = automations.flatMap(automation => wantFixtures(automation, webhook));
    for (const delivery of await history.listLastAccepted(webhook, fixtureDeliveriesMax)) {
      const open = wanted.filter(({ missing }) => missing.size > 0);
      if (open.length === 0) break;
      if (delivery.size > fixturePayloadBytesMax) continue;
      const read = await history.readPayload(delivery.id);
      if (!read) continue;
      for (const file of open.flatMap(one => makeFixture(one, delivery, read.payload))) {
        bytes += file.content.length;
        if (bytes > factoryBytesMax) return made;
        made.push(file);
      }
    }
  }
  return made;
}

/** An automation, a webhook that one of its triggers selects, and the verdicts for which there is no fixture yet. */
interface Wanted {
  readonly automation: AppliedAutomation;
  readonly webhook: AppliedWebhook;
  readonly missing: Set<Expectation>;
}

type Expectation = 'trigger' | 'no-trigger';

function wantFixtures(automation: AppliedAutomation, webhook: AppliedWebhook): Wanted[] {
  return listListeners([automation], webhook.uid).length > 0
    ? [{ automation, webhook, missing: new Set(['trigger', 'no-trigger']) }]
    : [];
}

/** Makes a fixture of a delivery, unless there is one of its verdict, or what is left out of it decides the verdict. */
function makeFixture(
  { automation, webhook, missing }: Wanted,
  delivery: PastDelivery,
  original: unknown,
): ExportedFile[] {
  const judge = (payload: unknown, headers: EventHeaders): Expectation => {
    const judged = { webhookUid: webhook.uid, payload, headers };
    const fires = automation.triggers.some(trigger => judgeTrigger(trigger, judged).wouldTrigger);
    return fires ? 'trigger' : 'no-trigger';
  };
  const expect = judge(original, delivery.headers ?? {});
  if (!missing.has(expect)) return [];
  const payload = redactPayload(original);
  const headers = redactHeaders(delivery.headers ?? {});
  if (judge(payload, headers) !== expect) return [];
  missing.delete(expect);
  const withHeaders = Object.keys(headers).length > 0 && { headers };
  const fixture = { expect, webhook: webhook.name, payload, ...withHeaders };
  const content = `${JSON.stringify(fixture, null, 2)}\n`;
  return [{ path: getFixturePath(automation.name, delivery.id), content }];
}
