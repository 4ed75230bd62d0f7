import { listOpenAlerts } from '../../operations/attention/alerts.ts';
import { printable } from '../../schema/text/printable.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import { type Context, openContext } from '../context.ts';
import { examineDaemon } from '../doctor/examine-daemon.ts';
import { examineMachine } from '../doctor/examine-machine.ts';
import { examineSettings, findExisting } from '../doctor/examine-settings.ts';
import { fine, problem, type Symptom, warning } from '../doctor/symptom.ts';
import { exitStatus } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';
import { createEnvOption } from '../input/options.ts';
import { printData } from '../output.ts';
import { completeCommands } from '../render/own-commands.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill doctor`. */
export function declareDoctor(command: CliCommand): void {
  command
    .explain(`look for what keeps this machine from receiving deliveries

Looks at Node.js, the clock, the disk, the store with its key and file modes, the ports or the daemon, the base URL and
the proxy, lists open alerts, and says what to do. With the daemon's configuration file, it also looks at the user of
runs and at the sign-in provider: run it as the user of the daemon. Changes nothing. Exits with 1 if there are problems;
warnings do not count.

Examples:
  hookmill doctor
  hookmill doctor --home /var/lib/hookmill --config /etc/hookmill/daemon.yaml -o json`)
    .addOption(createEnvOption('--config <file>', 'configuration file of the daemon'))
    .action(async ({ config }: { readonly config?: string }, command: CliCommand) => {
      const { output }: GlobalOptions = command.optsWithGlobals();
      const findings = await examine(command, config);
      if (findings.some(({ state }) => state === 'problem')) process.exitCode = exitStatus.problems;
      printData(output, { findings }, () => findings.map(render).join(''));
    });
}

async function examine(command: CliCommand, config: string | undefined): Promise<Symptom[]> {
  const context = await openContext(command).catch(toUnusable);
  if ('state' in context) return [...(await examineMachine(process.cwd())), context];
  const { store, ownBaseUrl } = context;
  const record = await store.daemonAddress.read();
  return [
    ...(await examineMachine(findExisting(store.place.home))),
    ...(await examineStore(store)),
    ...(config === undefined ? [] : await examineSettings(config, store)),
    ...(await examineDaemon(record, ownBaseUrl)),
    ...(await examineAlerts(store)),
  ];
}

/** Reports a store that cannot be opened. Wrong usage still fails. */
function toUnusable(error: unknown): Symptom {
  if (error instanceof StoreError) return problem('store', error.message, 'correct that, and try again');
  throw error;
}

async function examineAlerts(store: Context['store']): Promise<Symptom[]> {
  const alerts = await listOpenAlerts(store, undefined).catch(toUnusable);
  if ('state' in alerts) return [alerts];
  return alerts.map(({ factory, reason, remedy }) => warning(`factory ${factory}`, reason, remedy ?? ''));
}

async function examineStore(store: Context['store']): Promise<Symptom[]> {
  const { facts, problems } = await store.check();
  const known = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  if (problems.length === 0) return [fine('store', known.join(', '))];
  return problems.map(text => problem('store', text, 'see `hookmill store check`'));
}

function render({ subject, state, text, remedy }: Symptom): string {
  const advice = remedy === undefined ? '' : `\n           ${printable(completeCommands(remedy))}`;
  return `${state.padEnd(9)}${subject}: ${printable(text)}${advice}\n`;
}
