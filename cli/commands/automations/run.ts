import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { findDraft } from '../../definitions/find-draft.ts';
import { createHeaderOption, type HeaderLines } from '../../input/header-option.ts';
import { readPayloadFile, toEventHeaders } from '../../input/payload-file.ts';
import { printData } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill automations run`. */
export function declareAutomationsRun(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'run',
    'start a run by hand, to try a prompt before it is applied',
    `
Starts a run of the definition in the definitions directory. If there is none, it runs the applied automation. Filters are
not checked. The run is marked as manual, and its payload counts as no delivery of a webhook.

Examples:
  hookmill automations run triage --payload event.json
  hookmill automations run triage --payload event.json --header 'X-GitHub-Event: push'`,
  )
    .argument('<name>', 'name of the automation')
    .requiredOption('--payload <file>', 'the payload that the run gets')
    .addOption(createHeaderOption('a header of the payload, as in "X-GitHub-Event: push"; repeatable'))
    .action(async (name: string, { payload: file, header }: RunOptions, command: Command) => {
      const context = await openBackend(command);
      const { backend, output } = context;
      const draft = await findDraft(name, context);
      const { bytes: payload } = await readPayloadFile(file);
      const wanted = draft ? { draft: { ...draft, triggers: [...draft.triggers] } } : { automation: name };
      const event = { payload: payload.toString('utf8'), headers: toEventHeaders(header) };
      const started = await backend.call('runByHand', { body: { ...wanted, ...event } });
      printData(output, started, () => `${started.runId}\n`);
    });
}

interface RunOptions {
  readonly payload: string;
  readonly header?: HeaderLines;
}
