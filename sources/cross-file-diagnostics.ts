import { posix } from 'node:path';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import { findUnknownNames } from '../schema/definitions/webhook-names.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { webhooksMax } from '../schema/factory-size.ts';
import { describeNeverKept } from '../schema/kept-headers.ts';
import { toCanonicalJson } from '../schema/text/json-text.ts';
import {
  type DefinitionFiles,
  type Definitions,
  definitionFolders,
  getDefinitionPath,
} from './definitions.ts';
import { suggestName } from './read-entries.ts';

/** Finds mistakes that no single file shows. */
export function findCrossFileDiagnostics(
  found: DefinitionFiles,
  { automations, locate }: Pick<Definitions, 'automations' | 'locate'>,
): Diagnostic[] {
  return [
    ...findTooManyWebhooks(found),
    ...findCaseCollisions(found),
    ...findReservedNames(found),
    ...findDuplicates(automations, locate),
    ...findUnknownWebhooks(found, automations, locate),
    ...automations.flatMap(automation => findCredentialFilters(automation, locate)),
  ];
}

function findTooManyWebhooks({ files }: DefinitionFiles): Diagnostic[] {
  const webhooks = files.filter(({ kind }) => kind === 'webhook').map(({ file }) => file);
  const first = webhooks.sort()[webhooksMax];
  if (first === undefined) return [];
  return [
    {
      code: 'webhook/too-many',
      severity: 'error',
      message: `webhook limit exceeded: ${webhooks.length} webhooks, at most ${webhooksMax} per factory`,
      file: first,
      hint: 'move some to the definitions directory of another factory',
    },
  ];
}

/** Finds files whose names differ only in case. File systems that ignore case keep only one of them. */
function findCaseCollisions({ files, diagnostics }: DefinitionFiles): Diagnostic[] {
  const misnamed = diagnostics.filter(({ code }) => code === 'definition/file-name');
  const names = [...files, ...misnamed].map(({ file }) => file);
  return reportRepeats(
    names.sort(),
    name => name.toLowerCase(),
    (file, first) => ({
      code: 'definition/case-collision',
      severity: 'error',
      message: `the name differs from ${first} only in case`,
      file,
      hint: 'rename one of them: a checkout on macOS or Windows has only one',
    }),
  );
}

// https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file: also with an extension.
const reservedName = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/;

function findReservedNames({ files }: DefinitionFiles): Diagnostic[] {
  return files
    .filter(({ name }) => reservedName.test(name))
    .map(({ name, file }) => ({
      code: 'definition/file-name',
      severity: 'warning',
      message: `${name} is a reserved name on Windows, where git cannot check out this file`,
      file,
      hint: 'choose another name',
    }));
}

/** Finds triggers that name a webhook without a file. A file with mistakes counts too: they are reported. */
function findUnknownWebhooks(
  { files, diagnostics }: DefinitionFiles,
  automations: readonly AutomationDefinition[],
  locate: Definitions['locate'],
): Diagnostic[] {
  const webhooks = files.flatMap(({ kind, name }) => (kind === 'webhook' ? [name] : []));
  // A file with a wrong name or of a wrong kind is reported already.
  const refused = diagnostics.flatMap(({ file, severity }) => {
    const isWebhook = posix.basename(posix.dirname(file)) === definitionFolders.webhook;
    return severity === 'error' && isWebhook ? (suggestName(posix.basename(file)) ?? []) : [];
  });
  const names = new Set([...webhooks, ...refused]);
  const hintFor = (name: string) => `add ${getDefinitionPath('webhook', name)}, or name another webhook`;
  return automations.flatMap(automation =>
    findUnknownNames(automation, names, hintFor).map(({ index, message, hint }): Diagnostic => {
      const place = locate('automation', automation.name, ['triggers', index, 'filter', 'webhook']);
      return { code: 'automation/webhook-unknown', severity: 'error', message, hint, ...place };
    }),
  );
}

function findDuplicates(
  automations: readonly AutomationDefinition[],
  locate: Definitions['locate'],
): Diagnostic[] {
  const several = automations.filter(({ triggers }) => triggers.length > 1);
  // Filters are compared only where the rest is the same: to render them takes much longer.
  const alike = Map.groupBy(automations, ({ enabled, prompt }) => `${enabled} ${prompt.trim()}`);
  return [
    ...several.flatMap(automation => findDuplicateTriggers(automation, locate)),
    ...[...alike.values()].flatMap(group =>
      group.length > 1 ? findDuplicateAutomations(group, locate) : [],
    ),
  ];
}

/** Renders the filters of an automation as JSON that is the same for equal ones. */
function renderFilters({ triggers }: AutomationDefinition): string[] {
  return triggers.map(({ filter }) => toCanonicalJson(filter));
}

function findDuplicateTriggers(
  automation: AutomationDefinition,
  locate: Definitions['locate'],
): Diagnostic[] {
  return reportRepeats(
    [...renderFilters(automation).entries()],
    ([, filter]) => filter,
    ([index], [first]) => ({
      code: 'automation/duplicate-trigger',
      severity: 'warning',
      message: `duplicate of the ${formatOrdinal(first)} trigger: same webhook, same filter`,
      ...locate('automation', automation.name, [
        'triggers',
        index,
        'filter',
        ...findSelection(automation, index),
      ]),
      hint: 'remove it, or correct its webhook or filter',
    }),
  );
}

/** Where in a trigger's filter the webhook is. */
function findSelection({ triggers }: AutomationDefinition, index: number): PropertyKey[] {
  return triggers[index]?.filter.webhook === undefined ? ['webhook_ids', 0] : ['webhook'];
}

/** Finds automations that do the same for the same deliveries, in whatever order they list their triggers. */
function findDuplicateAutomations(
  automations: readonly AutomationDefinition[],
  locate: Definitions['locate'],
): Diagnostic[] {
  return reportRepeats(
    automations,
    automation => JSON.stringify([...new Set(renderFilters(automation))].sort()),
    ({ name }, first) => ({
      code: 'automation/duplicate',
      severity: 'warning',
      message: `duplicate of the automation ${first.name}: each delivery that matches starts a run of both`,
      ...locate('automation', name, ['prompt']),
      hint: 'remove one of them, or correct its prompt or triggers',
    }),
  );
}

/** Reports each element with the same key as an earlier one, and passes the first that has it. */
function reportRepeats<T>(
  elements: readonly T[],
  toKey: (element: T) => string,
  report: (repeat: T, first: T) => Diagnostic,
): Diagnostic[] {
  const firsts = new Map<string, T>();
  return elements.flatMap(element => {
    const key = toKey(element);
    const first = firsts.get(key);
    if (first !== undefined) return [report(element, first)];
    firsts.set(key, element);
    return [];
  });
}

/** Finds header filters on credentials. Other headers can be judged only with the webhook of the trigger. */
function findCredentialFilters(
  { name, triggers }: AutomationDefinition,
  locate: Definitions['locate'],
): Diagnostic[] {
  return triggers.flatMap(({ filter: { headers = {} } }, index) =>
    Object.keys(headers).flatMap((header): Diagnostic[] => {
      const mistake = describeNeverKept(header);
      if (!mistake) return [];
      const place = locate('automation', name, ['triggers', index, 'filter', 'headers', header]);
      return [{ code: 'filter/header-not-kept', severity: 'error', ...mistake, ...place }];
    }),
  );
}

function formatOrdinal(index: number): string {
  return ['first', 'second', 'third'][index] ?? `${index + 1}th`;
}
