import { isOfferedTo } from '../../store/ports/daemon-records.ts';
import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  replaceAutomation,
  showAutomation,
} from '../applied/automations.ts';
import { planAutomation } from '../impact/read-impacts.ts';
import { testFilter } from '../log/deliveries.ts';
import { testOnStored } from '../log/test-on-stored.ts';
import { automationDetail } from '../views/applied-views.ts';
import { type HandlersOf, showState } from './handler.ts';

/** Handles requests for automations, and for tests of them. */
export const automationHandlers: HandlersOf<'automations'> = {
  listAutomations: async ({ factory }) => showState(await listAutomations(factory)),
  createAutomation: async ({ factory }, { body, ifSerial }) => {
    const change = createAutomation({ ...factory, ifSerial }, body);
    const { state, result } = await change;
    return { body: automationDetail(state, result), serial: state.serial, changed: body.name };
  },
  showAutomation: async ({ factory }, { params: { automation } }) =>
    showState(await showAutomation(factory, automation)),
  replaceAutomation: async ({ factory }, { params: { automation: name }, body, ifSerial }) => {
    const change = replaceAutomation({ ...factory, ifSerial }, name, body);
    const { state, result } = await change;
    return { body: automationDetail(state, result), serial: state.serial };
  },
  deleteAutomation: async ({ factory }, { params: { automation }, ifSerial }) => {
    const change = deleteAutomation({ ...factory, ifSerial }, automation);
    const { state } = await change;
    return { body: undefined, serial: state.serial };
  },
  planAutomation: async ({ factory }, { body }) => {
    const { state, change } = await planAutomation(factory, body);
    return showState({ serial: state.serial, change });
  },
  testFilter: async ({ factory }, { body }) => {
    const { automation = '', triggers, delivery, payload, headers } = body;
    const tested = triggers ? { name: 'draft', enabled: true, triggers } : automation;
    const by = delivery === undefined ? { payload, headers } : { id: delivery };
    return { body: await testFilter(factory, tested, by) };
  },
  testOnStored: async ({ factory }, { body }) => {
    const { automation = '', triggers, draft, ...wanted } = body;
    const tested = draft ?? (triggers ? { name: 'draft', enabled: true, triggers } : automation);
    return { body: await testOnStored(factory, tested, wanted) };
  },
  listRunners: async ({ store }, { params: { factory } }) => {
    const offered = await store.offeredRunners.read();
    const own = offered.filter(runner => isOfferedTo(runner, factory));
    // The globs of factories would tell their names.
    return { body: { runners: own.map(({ factories: _, ...runner }) => runner) } };
  },
};
