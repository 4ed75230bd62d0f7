import { posix } from 'node:path';
import type { AppliedAutomation, AppliedState } from '../schema/applied-state.ts';
import { renderAutomationYaml } from '../schema/definitions/definition-yaml.ts';
import { type Instead, Refusal } from '../schema/refusal.ts';
import { type Changed, changeFactory, type ManagedFactory } from './change-factory.ts';
import type { OpenFactory } from './factory.ts';
import { findDefinitionFile, requireManagedHere } from './managed-by.ts';
import {
  type AutomationDetail,
  type AutomationView,
  automationDetail,
  automationView,
} from './views/applied-views.ts';

export interface ListedAutomations {
  readonly serial: number;
  readonly automations: AutomationView[];
}

/** The applied automations, by name. */
export async function listAutomations({
  readState,
}: Pick<OpenFactory, 'readState'>): Promise<ListedAutomations> {
  const state = await readState();
  const automations = state.automations.map(automation => automationView(state, automation));
  return { serial: state.serial, automations };
}

/** Fails with `automation-unknown`. */
export async function showAutomation(
  { readState }: Pick<OpenFactory, 'readState'>,
  name: string,
): Promise<AutomationDetail> {
  const state = await readState();
  return automationDetail(state, requireAutomation(state, name));
}

/** Creates an automation. Fails with `name-taken`, or where the factory is not managed here. */
export async function createAutomation(
  factory: ManagedFactory,
  automation: AppliedAutomation,
): Promise<Changed<AppliedAutomation>> {
  return changeFactory(factory, async state => {
    requireManagedHere(state, () => writeFile(state, automation));
    if (state.automations.some(({ name }) => name === automation.name)) {
      throw new Refusal('name-taken', { detail: `there is an automation ${automation.name} already` });
    }
    return { next: { automations: sorted([...state.automations, automation]) }, result: automation };
  });
}

/** Replaces what the automation of that name says. Fails with `automation-unknown`, or as creating does. */
export async function replaceAutomation(
  factory: ManagedFactory,
  automation: AppliedAutomation,
): Promise<Changed<AppliedAutomation>> {
  return changeFactory(factory, async state => {
    const existing = requireAutomation(state, automation.name);
    requireManagedHere(state, () => writeFile(state, automation));
    const automations = state.automations.map(other => (other === existing ? automation : other));
    return { next: { automations }, result: automation };
  });
}

/** Fails with `automation-unknown`, or where the factory is not managed here. */
export async function deleteAutomation(factory: ManagedFactory, name: string): Promise<Changed<undefined>> {
  return changeFactory(factory, async state => {
    const existing = requireAutomation(state, name);
    requireManagedHere(state, () => removeFile(state, name));
    return {
      next: { automations: state.automations.filter(other => other !== existing) },
      result: undefined,
    };
  });
}

export function requireAutomation({ automations, factory }: AppliedState, name: string): AppliedAutomation {
  const found = automations.find(automation => automation.name === name);
  if (found) return found;
  throw new Refusal('automation-unknown', { detail: `the factory ${factory} has no automation ${name}` });
}

function writeFile(state: AppliedState, automation: AppliedAutomation): Instead {
  const file = findDefinitionFile(state, 'automations', automation.name) ?? '';
  return { text: `write ${posix.basename(file)} and apply`, file, yaml: renderAutomationYaml(automation) };
}

function removeFile(state: AppliedState, name: string): Instead {
  const file = findDefinitionFile(state, 'automations', name) ?? '';
  return { text: `remove ${posix.basename(file)} and apply`, file };
}

function sorted(automations: AppliedAutomation[]): AppliedAutomation[] {
  return automations.sort((a, b) => (a.name < b.name ? -1 : 1));
}
