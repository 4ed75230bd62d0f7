import { type Applied, applyDefinitions } from '../../../operations/apply.ts';
import { findManagement } from '../../../operations/managed-by.ts';
import { type Change, summarize } from '../../../operations/plan.ts';
import { planFactory } from '../../../operations/plan-factory.ts';
import { webhookView } from '../../../operations/views/applied-views.ts';
import { planView } from '../../../operations/views/plan-view.ts';
import type { Diagnostic } from '../../../schema/diagnostics.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { DefinitionFile } from '../../../sources/definition-files.ts';
import type { Definitions } from '../../../sources/definitions.ts';
import { parseDefinitions } from '../../../sources/parse-definitions.ts';
import { type ApiDeps, getServedState, openFactory } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

/** Plans and applies definition files that are sent. They only name team secrets. */
export function definitionHandlers(deps: ApiDeps): Pick<ApiHandlers, 'plan' | 'apply'> {
  const { served, baseUrl } = deps;
  return {
    plan: async ({ params: { factory }, body: { files } }) => {
      const planned = await planFactory(openFactory(deps, factory), parseSentFiles(files));
      if (!planned.ok) throw invalid(planned.diagnostics);
      const { state, changes, diagnostics } = planned;
      return { body: { ...planView(state, changes, baseUrl()), diagnostics }, serial: state.serial };
    },

    apply: async ({ params: { factory }, body, ifSerial }) => {
      const { files, origin, destroy, adopt } = body;
      if (findManagement(getServedState(deps, factory)) === 'repository') {
        const instead = { text: 'push to the production branch: it is applied from there' };
        throw new Refusal('managed-in-repository', { instead });
      }
      const applied = await applyDefinitions(
        openFactory(deps, factory),
        parseSentFiles(files),
        { kind: 'directory', directory: origin },
        async (changes, { state }) => {
          if (ifSerial !== undefined && state.serial !== ifSerial) throw new Refusal('serial-moved');
          return destroy || summarize(changes).destroy === 0;
        },
        { adopt },
      );
      const { state, changes, diagnostics, result } = requireApplied(applied);
      await served.refresh();
      const webhooks = state.webhooks.map(webhook => webhookView(state, webhook, baseUrl()));
      const answer = { ...planView(state, changes, baseUrl()), diagnostics, result, webhooks };
      return { body: answer, serial: state.serial };
    },
  };
}

/** Parses the files, whose paths the shape of the request has checked. */
function parseSentFiles(files: readonly { readonly path: string; readonly content: string }[]): Definitions {
  const byPath = new Map(files.map(file => [file.path, file]));
  const found = [...byPath.values()].map(({ path, content }): DefinitionFile => {
    const [folder = '', fileName = ''] = path.split('/');
    const name = fileName.slice(0, -'.yaml'.length);
    const kind = folder === 'webhooks' ? 'webhook' : 'automation';
    return { kind, name, file: path, bytes: Buffer.from(content) };
  });
  return parseDefinitions({ files: found, diagnostics: [] });
}

function requireApplied(applied: Applied) {
  if (applied.result === 'invalid') throw invalid(applied.diagnostics);
  if (applied.result === 'declined') throw unconfirmed(applied.changes);
  return { ...applied, result: applied.result };
}

function invalid(diagnostics: readonly Diagnostic[]): Refusal {
  const code = 'factory/dashboard-managed';
  const isManagedHere = diagnostics.some(one => one.code === code && one.severity === 'error');
  return new Refusal(isManagedHere ? 'managed-in-dashboard' : 'definitions-invalid', { diagnostics });
}

function unconfirmed(changes: readonly Change[]): Refusal {
  const destroyed = changes
    .filter(({ action }) => action === 'delete')
    .map(({ kind, name }) => `${kind} ${name}`);
  const detail = `this would destroy ${destroyed.join(', ')}; a deleted URL never comes back`;
  return new Refusal('destroy-unconfirmed', { detail });
}
