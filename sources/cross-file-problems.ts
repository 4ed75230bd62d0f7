import { isDeepStrictEqual } from 'node:util';
import { webhooksMax } from '../schema/applied-state.ts';
import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import type { DefinitionFiles, Definitions } from './definition-files.ts';

/** What is wrong with files or triggers that are right one by one. */
export function crossFileProblems(
  found: DefinitionFiles,
  { automations, locate }: Pick<Definitions, 'automations' | 'locate'>,
): Diagnostic[] {
  return [
    ...tooManyWebhooks(found),
    ...caseCollisions(found),
    ...automations.flatMap(automation => duplicateTriggers(automation, locate)),
  ];
}

function tooManyWebhooks({ files }: DefinitionFiles): Diagnostic[] {
  const webhooks = files.filter(({ kind }) => kind === 'webhook').map(({ file }) => file);
  const first = webhooks.sort()[webhooksMax];
  if (first === undefined) return [];
  return [
    {
      code: 'webhook/too-many',
      severity: 'error',
      message: `a factory has at most ${webhooksMax} webhooks, here are ${webhooks.length}`,
      file: first,
      hint: 'move some to another factory: a definitions directory of its own',
    },
  ];
}

/** At most one of such names is a definition's, but it may be the one that a checkout loses. */
function caseCollisions({ files, diagnostics }: DefinitionFiles): Diagnostic[] {
  const misnamed = diagnostics.filter(({ code }) => code === 'definition/file-name');
  const names = [...files, ...misnamed].map(({ file }) => file);
  const alike = Map.groupBy(names, name => name.toLowerCase());
  return [...alike.values()].flatMap(group => {
    const [first, ...others] = group.sort();
    return others.map((file): Diagnostic => {
      return {
        code: 'definition/case-collision',
        severity: 'error',
        message: `the name differs from ${first} in case only`,
        file,
        hint: 'rename one: where case is ignored, as on macOS and Windows, a checkout has only one of them',
      };
    });
  });
}

function duplicateTriggers(
  { name, triggers }: AutomationDefinition,
  locate: Definitions['locate'],
): Diagnostic[] {
  return triggers.flatMap(({ filter }, index): Diagnostic[] => {
    const first = triggers.findIndex(other => isDeepStrictEqual(other.filter, filter));
    if (first === index) return [];
    return [
      {
        code: 'automation/duplicate-trigger',
        severity: 'warning',
        message: `this trigger is the same as the ${ordinal(first)}: same webhook, same filter`,
        ...locate('automation', name, ['triggers', index, 'filter', 'webhook_ids', 0]),
        hint: 'remove it, or give it the UID or the filter that was meant',
      },
    ];
  });
}

function ordinal(index: number): string {
  return ['first', 'second', 'third'][index] ?? `${index + 1}th`;
}
