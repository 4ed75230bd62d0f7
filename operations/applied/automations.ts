import { posix } from 'node:path';
import type { z } from 'zod';
import type { automationRequest } from '../../schema/api/requests.ts';
import type { AppliedAutomation, AppliedState } from '../../schema/applied-state.ts';
import { renderAutomationYaml } from '../../schema/definitions/definition-yaml.ts';
import { compareNames } from '../../schema/names.ts';
import { type Instead, Refusal } from '../../schema/refusal.ts';
import { findDefinitionFile, requireManagedHere } from '../applied-source.ts';
import { requireOffered } from '../checks/runner-diagnostics.ts';
import { findUnkeptHeaders, requirePinned } from '../checks/trigger-diagnostics.ts';
import type { OpenFactory } from '../factory.ts';
import { hasChanges, planAutomations } from '../plan/plan.ts';
import {
  type AutomationDetail,
  type AutomationView,
  automationDetail,
  automationView,
} from '../views/applied-views.ts';
import { type Changed, changeFactory, type ManagedFactory, requireAsShown } from './change-factory.ts';
import { requireAutomation } from './require-applied.ts';

export interface ListedAutomations {
  readonly serial: number;
  readonly automations: AutomationView[];
}

/** Lists the applied automations by name. */
export async function listAutomations({
  readState,
}: Pick<OpenFactory, 'readState'>): Promise<ListedAutomations> {
  const state = await readState();
  const automations = state.automations.map(automation => automationView(state, automation));
  return { serial: state.serial, automations };
}

/** Shows an applied automation. Fails with `automation-unknown`. */
export async function showAutomation(
  { readState }: Pick<OpenFactory, 'readState'>,
  name: string,
): Promise<AutomationDetail> {
  const state = await readState();
  return automationDetail(state, requireAutomation(state, name));
}

/** Creates an automation. Fails with `name-taken` or `managed-in-…`. */
export async function createAutomation(
  factory: ManagedFactory,
  automation: AppliedAutomation,
): Promise<Changed<AppliedAutomation>> {
  return changeFactory(factory, async state => {
    requireManagedHere(state, () => explainWrite(state, automation));
    if (state.automations.some(({ name }) => name === automation.name)) {
      throw new Refusal('name-taken', { detail: `the automation ${automation.name} already exists` });
    }
    const pinned = requirePinned(state, automation);
    requireKeptHeaders(state, pinned);
    requireOffered(pinned, factory.name, await factory.store.offeredRunners.read());
    return {
      next: { automations: [...state.automations, pinned].sort(compareNames) },
      result: pinned,
    };
  });
}

/**
 * Replaces the automation of that name. What the request has besides a definition must be as `showAutomation` shows it.
 * Fails with `automation-unknown` or `managed-in-…`.
 */
export async function replaceAutomation(
  factory: ManagedFactory,
  replaced: string,
  { name = replaced, file, yaml, serial, ...definition }: z.output<typeof automationRequest>,
): Promise<Changed<AppliedAutomation>> {
  const automation = { ...definition, name: replaced };
  return changeFactory({ ...factory, ifSerial: factory.ifSerial ?? serial }, async state => {
    const existing = requireAutomation(state, replaced);
    requireAsShown({ name, file, yaml }, automationDetail(state, existing));
    requireManagedHere(state, () => explainWrite(state, automation));
    const pinned = requirePinned(state, automation);
    requireKeptHeaders(state, pinned);
    requireOffered(pinned, factory.name, await factory.store.offeredRunners.read());
    const planned = planAutomations([pinned], { ...state, automations: [existing] });
    // It is no change to select the same webhook by its name instead of its UID.
    const result = hasChanges(planned) ? pinned : existing;
    const automations = state.automations.map(other => (other === existing ? result : other));
    return { next: { automations }, result };
  });
}

/** Deletes an automation. Fails with `automation-unknown` or `managed-in-…`. */
export async function deleteAutomation(factory: ManagedFactory, name: string): Promise<Changed<undefined>> {
  return changeFactory(factory, async state => {
    const existing = requireAutomation(state, name);
    requireManagedHere(state, () => explainRemoval(state, name));
    return {
      next: { automations: state.automations.filter(other => other !== existing) },
      result: undefined,
    };
  });
}

/** Refuses filters on headers that are not kept, as a plan of definition files does. */
function requireKeptHeaders({ webhooks }: AppliedState, automation: AppliedAutomation): void {
  const unkept = findUnkeptHeaders(automation, new Map(webhooks.map(webhook => [webhook.uid, webhook])));
  if (unkept.length === 0) return;
  const mistakes = unkept.map(({ index, header, ...mistake }) => ({
    ...mistake,
    pointer: `/triggers/${index}/filter/headers/${header.replaceAll('~', '~0')}`,
  }));
  throw new Refusal('request-invalid', { mistakes });
}

function explainWrite(state: AppliedState, automation: AppliedAutomation): Instead {
  const file = findDefinitionFile(state, 'automation', automation.name) ?? '';
  return {
    text: `write ${posix.basename(file)} and run \`hookmill apply\``,
    file,
    yaml: renderAutomationYaml(automation, state.webhooks),
  };
}

function explainRemoval(state: AppliedState, name: string): Instead {
  const file = findDefinitionFile(state, 'automation', name) ?? '';
  return { text: `remove ${posix.basename(file)} and run \`hookmill apply\``, file };
}
