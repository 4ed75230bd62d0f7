import type { AppliedState } from '../../schema/applied-state.ts';
import type { AutomationDefinition, Trigger } from '../../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { describeNeverKept, listKeptHeaders } from '../../schema/kept-headers.ts';
import { findNearest } from '../../schema/text/suggestion.ts';
import type { Definitions } from '../../sources/definitions.ts';

/** Finds header filters on headers that the webhook of the trigger would not keep. */
export function findHeaderDiagnostics(
  { webhooks, automations, locate }: Pick<Definitions, 'webhooks' | 'automations' | 'locate'>,
  applied: Pick<AppliedState, 'webhooks'>,
): Diagnostic[] {
  const wanted = new Map(webhooks.map(webhook => [webhook.name, webhook]));
  const byUid = applied.webhooks.map(({ uid, name }) => [uid, wanted.get(name)] as const);
  // A trigger of a webhook without a UID yet has only its name.
  const webhookOf = new Map([...byUid, ...wanted]);
  return automations.flatMap(automation =>
    // The parser has reported credentials.
    findUnkeptHeaders(automation, webhookOf)
      .filter(({ header }) => !describeNeverKept(header))
      .map(
        ({ index, header, ...mistake }): Diagnostic => ({
          ...mistake,
          severity: 'error',
          ...locate('automation', automation.name, ['triggers', index, 'filter', 'headers', header]),
        }),
      ),
  );
}

interface UnkeptHeader extends Pick<Diagnostic, 'message' | 'hint'> {
  readonly code: typeof code;
  /** The position of the trigger. */
  readonly index: number;
  readonly header: string;
}

const code = 'filter/header-not-kept';

/** Finds the headers in an automation's filters that its webhooks, given by UID or name, do not keep. */
export function findUnkeptHeaders(
  { triggers }: Pick<AutomationDefinition, 'triggers'>,
  webhooks: ReadonlyMap<string, WebhookDefinition | undefined>,
): readonly UnkeptHeader[] {
  return triggers.flatMap(({ filter }: Trigger, index) => {
    const webhook = webhooks.get(filter.webhook_ids[0] ?? filter.webhook ?? '');
    if (!webhook || !filter.headers) return [];
    const kept = listKeptHeaders(webhook);
    const keptLower = kept.map(name => name.toLowerCase());
    const unkept = Object.keys(filter.headers).filter(name => !keptLower.includes(name.toLowerCase()));
    return unkept.map((header): UnkeptHeader => {
      const near = findNearest(header, kept);
      const never = describeNeverKept(header);
      if (never) return { code, index, header, ...never };
      const remedy = `add it to keepHeaders of the webhook, as in keepHeaders: [${header}]`;
      return {
        code,
        index,
        header,
        message: `the webhook ${webhook.name} does not keep the header ${header}, so filters never see it`,
        hint: near === undefined ? remedy : `did you mean ${near}? Otherwise ${remedy}`,
      };
    });
  });
}
