import type { AppliedAutomation, AppliedState } from '../../schema/applied-state.ts';
import type { AutomationDefinition, Trigger } from '../../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import {
  findUnknownNames,
  pinWebhooks,
  type WebhookWithUid,
} from '../../schema/definitions/webhook-names.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { describeNeverKept, listKeptHeaders } from '../../schema/kept-headers.ts';
import { Refusal } from '../../schema/refusal.ts';
import { findNearest } from '../../schema/text/suggestion.ts';
import type { Definitions } from '../../sources/definitions.ts';

/** Warns about triggers whose webhook is unknown or deleted by this apply: they stay and never start a run. */
export function findTriggerDiagnostics(
  { webhooks, automations, locate }: Pick<Definitions, 'webhooks' | 'automations' | 'locate'>,
  known: readonly WebhookWithUid[],
): Diagnostic[] {
  const kept = new Set(webhooks.map(({ name }) => name));
  const uids = new Set(known.filter(({ name }) => kept.has(name)).map(({ uid }) => uid));
  return automations.flatMap(({ name, triggers }) =>
    triggers.flatMap(({ filter }, index): Diagnostic[] => {
      const [uid = ''] = filter.webhook_ids;
      // Names are checked with the files.
      if (filter.webhook !== undefined || uids.has(uid)) return [];
      return [
        {
          code: 'automation/webhook-unknown',
          severity: 'warning',
          message: `no webhook has the UID ${uid}, so this trigger never starts a run`,
          hint: '`hookmill webhooks list` prints the UIDs',
          ...locate('automation', name, ['triggers', index, 'filter', 'webhook_ids', 0]),
        },
      ];
    }),
  );
}

/** Finds the UIDs of the webhooks that triggers name now. Fails with `request-invalid` if a name is unknown. */
export function requirePinned({ webhooks }: AppliedState, automation: AppliedAutomation): AppliedAutomation {
  const names = new Set(webhooks.map(({ name }) => name));
  const unknown = findUnknownNames(automation, names, () => 'name an applied webhook, or create it first');
  const pinned = pinWebhooks(automation, webhooks);
  const mistakes = unknown.map(({ index, message, hint }) => {
    const pointer = `/triggers/${index}/filter/webhook`;
    return { pointer, code: 'automation/webhook-unknown', message, hint };
  });
  if (mistakes.length > 0) throw new Refusal('request-invalid', { mistakes });
  return pinned;
}

/** Finds out why definition files may not replace a factory managed in the dashboard. */
export function findDashboardDiagnostics(
  { source, factory }: AppliedState,
  severity: Diagnostic['severity'],
): Diagnostic[] {
  if (source?.kind !== 'dashboard') return [];
  return [
    {
      code: 'factory/dashboard-managed',
      severity,
      message: `the factory ${factory} is managed in the dashboard; these files would replace what was made there`,
      file: `factory ${factory}`,
      hint: '`hookmill export <directory>` writes its files; `apply --adopt` then replaces the factory, or name another one',
    },
  ];
}

/** Finds header filters on headers that the webhook of the trigger would not keep. */
export function findHeaderDiagnostics(
  { webhooks, automations, locate }: Pick<Definitions, 'webhooks' | 'automations' | 'locate'>,
  known: readonly WebhookWithUid[],
): Diagnostic[] {
  const wanted = new Map(webhooks.map(webhook => [webhook.name, webhook]));
  const byUid = known.map(({ uid, name }) => [uid, wanted.get(name)] as const);
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
