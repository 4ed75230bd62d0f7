import { applyDefinitions, planFactory } from '../../../operations/apply.ts';
import { managementOf } from '../../../operations/change-factory.ts';
import { type Change, summarize } from '../../../operations/plan.ts';
import { webhookView } from '../../../operations/views/applied-views.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import type { AppliedState } from '../../../schema/applied-state.ts';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import { renderIngressUrl } from '../../../schema/ingress-url.ts';
import { type DefinitionFile, type Definitions, parseDefinitions } from '../../../sources/definitions.ts';
import { type ApiDeps, factoryOf, stateOf } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

/** Definition files that are sent. Team secrets are named in them, and stay here. */
export function definitionHandlers(deps: ApiDeps): Pick<ApiHandlers, 'plan' | 'apply'> {
  const { appliedStates, baseUrl } = deps;
  return {
    plan: async ({ params: { factory }, body: { files } }) => {
      const planned = await planFactory(factoryOf(deps, factory, undefined), definitionsOf(files));
      if (!planned.ok) throw invalid(planned.diagnostics);
      const { state, changes, diagnostics } = planned;
      return { body: planView(state, changes, diagnostics, baseUrl()), serial: state.serial };
    },

    apply: async ({ params: { factory }, body, ifSerial }) => {
      const { files, origin, destroy, adopt } = body;
      if (managementOf(stateOf(deps, factory)) === 'repository') {
        throw new ApiProblem('managed-in-repository', {
          instead: { text: 'push to the production branch: it is applied from there' },
        });
      }
      const source = { kind: 'directory' as const, directory: origin };
      const applied = await applyDefinitions(
        factoryOf(deps, factory, undefined),
        definitionsOf(files),
        source,
        async (changes, { state }) => {
          if (ifSerial !== undefined && state.serial !== ifSerial) throw new ApiProblem('serial-moved');
          return destroy || summarize(changes).destroy === 0;
        },
        { adopt },
      );
      if (applied.result === 'invalid') throw invalid(applied.diagnostics);
      if (applied.result === 'declined') throw unconfirmed(applied.changes);
      await appliedStates.refresh();
      const { state, changes, diagnostics, result } = applied;
      const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl()));
      return {
        body: { ...planView(state, changes, diagnostics, baseUrl()), result, webhooks },
        serial: state.serial,
      };
    },
  };
}

/** The shape of the request has checked the paths. */
function definitionsOf(files: readonly { readonly path: string; readonly content: string }[]): Definitions {
  const byPath = new Map(files.map(file => [file.path, file]));
  const found = [...byPath.values()].map(({ path, content }): DefinitionFile => {
    const [folder = '', fileName = ''] = path.split('/');
    const name = fileName.slice(0, -'.yaml'.length);
    const kind = folder === 'webhooks' ? 'webhook' : 'automation';
    return { kind, name, file: path, bytes: Buffer.from(content) };
  });
  return parseDefinitions({ files: found, diagnostics: [] });
}

function planView(
  state: AppliedState,
  changes: readonly Change[],
  diagnostics: readonly Diagnostic[],
  baseUrl: string,
) {
  return {
    factory: state.factory,
    serial: state.serial,
    changes: changes.map(({ action, kind, name, uid: knownUid, fields }) => {
      const webhook = kind === 'webhook' ? state.webhooks.find(webhook => webhook.name === name) : undefined;
      const uid = webhook?.uid ?? knownUid;
      const url = webhook && renderIngressUrl(baseUrl, webhook);
      return { action, kind, name, ...(uid && { uid }), ...(url && { url }), fields: [...fields] };
    }),
    summary: summarize(changes),
    diagnostics: [...diagnostics],
  };
}

function invalid(diagnostics: readonly Diagnostic[]): ApiProblem {
  const code = 'factory/dashboard-managed';
  const isManagedHere = diagnostics.some(one => one.code === code && one.severity === 'error');
  return new ApiProblem(isManagedHere ? 'managed-in-dashboard' : 'definitions-invalid', { diagnostics });
}

function unconfirmed(changes: readonly Change[]): ApiProblem {
  const going = changes
    .filter(({ action }) => action === 'delete')
    .map(({ kind, name }) => `${kind} ${name}`);
  const detail = `this would destroy ${going.join(', ')}; a deleted URL never comes back`;
  return new ApiProblem('destroy-unconfirmed', { detail });
}
