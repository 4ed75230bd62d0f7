import { type Command, CommanderError } from 'commander';
import { printable } from '../schema/text/printable.ts';
import { declareAlerts } from './commands/alerts.ts';
import { declareAudit } from './commands/audit.ts';
import { declareAutomations } from './commands/automations.ts';
import { CliCommand, type DeclareCommand } from './commands/cli-command.ts';
import { declareComplete, declareCompletion } from './commands/completion.ts';
import { declareAdd } from './commands/definitions/add.ts';
import { declareApply } from './commands/definitions/apply.ts';
import { declareExport } from './commands/definitions/export.ts';
import { declareInit } from './commands/definitions/init.ts';
import { declarePlan } from './commands/definitions/plan.ts';
import { declareSchema } from './commands/definitions/schema.ts';
import { declareStatus } from './commands/definitions/status.ts';
import { declareValidate } from './commands/definitions/validate.ts';
import { declareDeliveries, declareListen } from './commands/deliveries.ts';
import { declareDoctor } from './commands/doctor.ts';
import { declareKey } from './commands/key.ts';
import { declareMcp } from './commands/mcp.ts';
import { declarePayloads } from './commands/payloads.ts';
import { declareReconcile } from './commands/reconcile.ts';
import { declareRunners } from './commands/runners.ts';
import { declareRuns } from './commands/runs.ts';
import { declareSchemes } from './commands/schemes.ts';
import { declareSecrets } from './commands/secrets.ts';
import { declareSend } from './commands/send.ts';
import { declareSenders } from './commands/senders.ts';
import { declareServe } from './commands/serve.ts';
import { declareSessions } from './commands/sessions.ts';
import { declareStore } from './commands/store.ts';
import { declareTokens } from './commands/tokens.ts';
import { declareWebhooks } from './commands/webhooks.ts';
import { declareWhy } from './commands/why.ts';
import { describeError } from './describe-error.ts';
import { CommandError, exitStatus } from './exit-status.ts';
import { addGlobalOptions } from './global-options.ts';
import { printFindings, printStatus } from './output.ts';
import { version } from './version.ts';

/** The commands under their headings in the help. */
const commandTable: Readonly<Record<string, Readonly<Record<string, DeclareCommand>>>> = {
  'Definitions:': {
    init: declareInit,
    add: declareAdd,
    validate: declareValidate,
    plan: declarePlan,
    apply: declareApply,
    export: declareExport,
    status: declareStatus,
    reconcile: declareReconcile,
  },
  'Credentials:': {
    secrets: declareSecrets,
    key: declareKey,
    tokens: declareTokens,
    sessions: declareSessions,
    audit: declareAudit,
  },
  'Webhooks and deliveries:': {
    serve: declareServe,
    doctor: declareDoctor,
    why: declareWhy,
    alerts: declareAlerts,
    webhooks: declareWebhooks,
    deliveries: declareDeliveries,
    listen: declareListen,
    payloads: declarePayloads,
    automations: declareAutomations,
    runs: declareRuns,
    runners: declareRunners,
    store: declareStore,
  },
  'Senders:': { senders: declareSenders, send: declareSend, schemes: declareSchemes },
  'Editors, shells and agents:': { schema: declareSchema, completion: declareCompletion, mcp: declareMcp },
};

/** Runs the command line of this process and sets its exit status. */
export async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endWithoutOutput);
  // The package yaml prints each token to standard output if one of these is set.
  for (const name of ['LOG_STREAM', 'LOG_TOKENS']) delete process.env[name];
  try {
    await createProgram().parseAsync(process.argv);
  } catch (error) {
    process.exitCode = withDetails(reportError(error), process.argv);
  }
}

/** Returns the exit status of a failure. With --detailed-exitcode it is 1, as in Terraform: 2 only means changes. */
function withDetails(status: number, argv: readonly string[]): number {
  return status !== exitStatus.ok && argv.includes('--detailed-exitcode') ? exitStatus.problems : status;
}

/** Creates the command line. A command loads the store, operations and packages that it needs only when it runs. */
export function createProgram(): Command {
  const program = new CliCommand('hookmill')
    .description('Inbound webhooks as code: validate, plan and apply definitions; receive deliveries.')
    .version(version)
    // Each subcommand copies these settings when it is added.
    .exitOverride()
    // Commander quotes arguments as they are. Only it puts a line end there: before a suggestion.
    .configureOutput({ outputError: text => printFindings(text.split('\n').map(printable).join('\n')) })
    .showHelpAfterError('(use --help to see arguments and options)')
    .addHelpText(
      'after',
      `
Getting started:
  hookmill secrets generate DEPLOYS_TOKEN   create the team secret that webhooks/deploys.yaml names
  hookmill validate && hookmill plan        check the definitions, and see what would change
  hookmill apply                            make them the applied state
  hookmill serve                            receive deliveries

Exit status: 0 success, 1 problems found, 2 wrong usage, 3 unexpected failure.
With --detailed-exitcode: 0 no changes, 1 any failure, 2 changes.`,
    );
  addGlobalOptions(program);
  for (const [heading, commands] of Object.entries(commandTable)) {
    program.commandsGroup(heading);
    for (const [name, declare] of Object.entries(commands)) declare(program.command(name));
  }
  declareComplete(program);
  return program.commandsGroup('Commands:').addHelp();
}

/** Ends the process if its output cannot be written. A reader such as `head` may close it early, which is no error. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  const message = `the output cannot be written (${error.code})`;
  process.exitCode = reportError(new CommandError(message, exitStatus.unexpected));
  process.exit();
}

/** Prints an error for the user and returns the exit status. */
function reportError(error: unknown): number {
  // Commander has printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  const { message, status } = describeError(error);
  if (message) printStatus(`hookmill: ${printable(message)}`);
  if (status !== exitStatus.unexpected || error instanceof CommandError) return status;
  if (process.env.HOOKMILL_DEBUG && error instanceof Error) printStatus(String(error.stack));
  else printStatus('Set HOOKMILL_DEBUG=1 to see where it happened.');
  return status;
}
