import { Command } from 'commander';
import { addGlobalOptions } from './global-options.ts';
import { addCompletionCommands } from './program/completion-commands.ts';
import { addDaemonCommands } from './program/daemon-commands.ts';
import { addDefinitionCommands } from './program/definition-commands.ts';
import { addInspectionCommands } from './program/inspection-commands.ts';
import { addReconcileCommands } from './program/reconcile-commands.ts';
import { addSecretCommands } from './program/secret-commands.ts';
import { addSenderCommands } from './program/sender-commands.ts';
import { version } from './version.ts';

/** The command line. A command's own module is loaded when it runs, so that starting up stays quick. */
export function createProgram(): Command {
  const program = new Command('hookmill')
    .description('Inbound webhooks as code: validate, plan and apply definitions; receive deliveries.')
    .version(version)
    // Before any subcommand: each takes this over as it is made.
    .exitOverride()
    .showHelpAfterError('(add --help for what it takes)')
    .addHelpText(
      'after',
      `
Getting started:
  hookmill secrets generate DEPLOYS_TOKEN   make the credential that webhooks/deploys.yaml names
  hookmill validate && hookmill plan        check the definitions, see what would change
  hookmill apply                            make them the applied state
  hookmill serve                            receive deliveries

Exit status: 0 done or clean, 1 problems found, 2 wrong usage, 3 unexpected failure.`,
    );
  addGlobalOptions(program);
  addDefinitionCommands(program);
  addReconcileCommands(program);
  addSecretCommands(program);
  addInspectionCommands(program);
  addDaemonCommands(program);
  addSenderCommands(program);
  addCompletionCommands(program);
  return program;
}
