import { Option } from 'commander';
import type { SecretFormat } from '../../operations/access/secrets.ts';
import {
  requireSecretName,
  requireSecretReference,
  requireSecretValue,
} from '../../store/ports/team-secrets.ts';
import { type Context, openContext, requireFactoryName, toOpenFactory } from '../context.ts';
import { UsageError } from '../exit-status.ts';
import { parseSpanMs } from '../input/options.ts';
import { readSecretValue } from '../input/read-input.ts';
import { printData, printStatus } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { type CliCommand, declareList } from './cli-command.ts';

interface ShareOptions {
  readonly allFactories?: true;
  readonly only?: true;
}

interface SetOptions {
  readonly from?: string;
  readonly overlap?: number;
  readonly end?: true;
}

interface GenerateOptions {
  readonly format: SecretFormat;
  readonly overlap?: number;
}

/** @limit Shortest overlap of two values of a team secret, in ms: an apply and a change at the sender take a moment. */
const overlapMsMin = 60_000;
/** @limit Longest overlap of two values of a team secret, in ms: a week has a working day of whoever changes the sender. */
const overlapMsMax = 7 * 86_400_000;

const overlapOption = [
  '--overlap <time>',
  'keep the value before valid beside the new one, for 1m to 7d',
  parseOverlapMs,
] as const;

function parseOverlapMs(text: string): number {
  const ms = parseSpanMs(text) ?? 0;
  if (ms >= overlapMsMin && ms <= overlapMsMax) return ms;
  throw new UsageError(`"${text}" is not a time from 1m to 7d; write it as in 30m, 2h or 7d`);
}

/** Declares `hookmill secrets`. */
export function declareSecrets(command: CliCommand): void {
  command
    .explain(`manage team secrets, the credentials that definitions refer to by name

Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets list`)
    .subcommands({ set, generate, declare, list, share, remove });
}

function set(command: CliCommand): void {
  command
    .explain(`set the value of a team secret, from standard input or a prompt, or say where it is kept

The value is all of standard input, without one final newline. Webhooks use it after the next apply. Only this factory
may use a new team secret; hookmill secrets share lets others use it too.

With --overlap, the value that webhooks use now stays valid beside the new one, from the next apply until the overlap
ends: 1 minute to 7 days from now. So the sender can change its secret at any moment and no delivery is refused. A second
overlap is refused while one runs. --end ends it at once, without an apply. Not for webhooks with authMode url_token.

With --from, hookmill keeps only the reference, and each plan and apply reads the value: from an environment variable
(env:NAME), a file (file:/run/secrets/name), or the output of a command that is run without a shell
(exec:program argument, or exec:["program", "an argument with spaces"]). The process that applies reads it: this command
line or the daemon.

Examples:
  hookmill secrets set GITHUB_WEBHOOK < secret.txt
  pass show stripe/webhook | hookmill secrets set STRIPE_WEBHOOK
  hookmill secrets set GITHUB_WEBHOOK --overlap 2h < new-secret.txt
  hookmill secrets set GITHUB_WEBHOOK --end
  hookmill secrets set GITHUB_WEBHOOK --from 'exec:vault kv get -field=value secret/github-webhook'`)
    .argument('<name>', 'name of the team secret')
    .option('--from <reference>', 'where the value is kept, instead of the value')
    .option(...overlapOption)
    .option('--end', 'end the overlap at once: only the current value stays valid')
    .action(async (name: string, { from, overlap, end }: SetOptions, command: CliCommand) => {
      requireSecretName(name);
      const given = [from, overlap, end].filter(option => option !== undefined);
      if (given.length > 1) throw new UsageError('--from, --overlap and --end exclude each other; use one');
      const context = await openContext(command);
      if (end) return endOverlapNow(context, name);
      const value =
        from === undefined ? await setValue(context, name, overlap) : await setReference(context, name, from);
      if (value === undefined) return;
      const { describeShortSecret } = await import('../../operations/checks/secret-diagnostics.ts');
      const short = describeShortSecret(value);
      if (short !== undefined)
        printStatus(`The value ${short}. Run \`hookmill secrets generate ${name}\` for a random one.`);
      printStatus(`Set ${name}. ${await explainUse(context, name)}`);
    });
}

async function setValue(context: Context, name: string, overlapMs?: number): Promise<string> {
  const { store, factory } = context;
  const value = await readSecretValue(`Value of ${name}:`);
  requireSecretValue(value);
  const change = async () => {
    if (overlapMs !== undefined) return store.teamSecrets.setOverlapping(name, value, overlapMs);
    await store.teamSecrets.set(name, value, factory);
    return undefined;
  };
  const describe = (until: string | undefined) => describeOverlap(name, until);
  const until = await recordOwnChange(context, 'setSecret', name, change, describe);
  if (until) printStatus(explainOverlap(until));
  return value;
}

/** The subject of an entry in the audit log. */
function describeOverlap(name: string, until: string | undefined): string {
  return until === undefined ? name : `${name}: previous value until ${until}`;
}

function explainOverlap(until: string): string {
  return `The value that webhooks use now stays valid until ${until}. Let the sender change its secret after the apply.`;
}

/** Needs no apply. The daemon sees the change like any other. */
async function endOverlapNow(context: Context, name: string): Promise<void> {
  const { endOverlap } = await import('../../operations/applied/end-overlap.ts');
  const describe = (ended: readonly string[]) => [name, ...ended].join(' ');
  const ended = await recordOwnChange(
    context,
    'endSecretOverlap',
    name,
    () => endOverlap(toOpenFactory(context), name),
    describe,
  );
  const where =
    ended.length === 0 ? 'It was not applied yet' : `Only the current value is valid for ${ended.join(', ')}`;
  printStatus(`Ended the overlap of ${name}. ${where}.`);
}

/**
 * Sets the reference, and reads the value once. Returns undefined if it cannot be read here; the daemon may still be
 * able to.
 */
async function setReference(context: Context, name: string, from: string): Promise<string | undefined> {
  const { store, factory } = context;
  requireSecretReference(from);
  await recordOwnChange(context, 'setSecret', name, () => store.teamSecrets.refer(name, from, [factory]));
  const { value, unresolved } = (await store.teamSecrets.open([name])).get(name) ?? {};
  if (unresolved) printStatus(`Set ${name}. For now, ${unresolved.message}; ${unresolved.hint}.`);
  return value?.text;
}

/** Says what makes the users of a team secret use a new value. */
async function explainUse(context: Context, name: string): Promise<string> {
  const { usedBy = [] } = (await context.store.teamSecrets.list()).find(secret => secret.name === name) ?? {};
  const isReadEachTime =
    usedBy.length > 0 && usedBy.every(use => use.isCredential || use.webhook === undefined);
  if (isReadEachTime) return 'It is read each time that it is needed.';
  const { explainNewValue } = await import('../../operations/branch/new-secret-value.ts');
  return explainNewValue(toOpenFactory(context));
}

function generate(command: CliCommand): void {
  command
    .explain(`set a team secret to a random value and print it, only once

Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets generate BILLING_EVENTS --format whsec --overlap 2h`)
    .argument('<name>', 'name of the team secret')
    .addOption(
      new Option('--format <format>', 'token: URL-safe text; whsec: the format of Standard Webhooks')
        .choices(['token', 'whsec'])
        .default('token'),
    )
    .option(...overlapOption)
    .action(async (name: string, { format, overlap }: GenerateOptions, command: CliCommand) => {
      requireSecretName(name);
      const context = await openContext(command);
      const { generateSecretValue } = await import('../../operations/access/secrets.ts');
      const { value, previousUntil } = await recordOwnChange(
        context,
        'generateSecret',
        name,
        () => generateSecretValue(toOpenFactory(context), name, format, overlap),
        made => describeOverlap(name, made.previousUntil),
      );
      const data = { name, value, ...(previousUntil !== undefined && { previousUntil }) };
      printData(context.output, data, () => `${value}\n`);
      if (previousUntil !== undefined) printStatus(explainOverlap(previousUntil));
      printStatus(`Set ${name}; its value is shown only once. ${await explainUse(context, name)}`);
    });
}

function declare(command: CliCommand): void {
  command
    .explain(`create a team secret without a value

Use it for a provider that issues its secret only after it has the URL. The webhook can then be applied, and answers
401 until you set the secret and apply again.

Examples:
  hookmill secrets declare STRIPE_WEBHOOK
  hookmill secrets declare STRIPE_WEBHOOK && hookmill apply`)
    .argument('<name>', 'name of the team secret')
    .action(async (name: string, _, command: CliCommand) => {
      requireSecretName(name);
      const context = await openContext(command);
      const { store, factory } = context;
      await recordOwnChange(context, 'declareSecret', name, () =>
        store.teamSecrets.create(name, undefined, factory),
      );
      printStatus(`Declared ${name}. Its webhooks answer 401 until you set it and apply again.`);
    });
}

const list = declareList({
  description:
    'list team secrets, with the factories that may use them and what uses them (never their values)',
  read: async command => (await openContext(command)).store.teamSecrets.list(),
  empty:
    'No team secrets. Run `hookmill secrets generate NAME` or `hookmill secrets set NAME` to create one.',
  heading: ['NAME', 'VALUE', 'UPDATED', 'FACTORIES', 'USED BY'],
  toCells: ({ name, state, from, previousUntil, updatedAt, factories, usedBy }) => {
    // Also what an apply with another value has yet to end.
    const ends = [previousUntil, ...usedBy.map(use => use.previousUntil)].flatMap(until => until ?? []);
    const value = ends.length === 0 ? (from ?? state) : `${state}, previous until ${ends.sort().at(-1)}`;
    const uses = usedBy.map(({ factory, webhook }) => `${factory}/${webhook ?? '(repository)'}`).join(', ');
    return [name, value, updatedAt, factories?.join(', ') ?? 'all', uses || '-'];
  },
});

function share(command: CliCommand): void {
  command
    .explain(`let other factories use a team secret

A team secret is for the factory in which it was created. Whoever manages that factory can change its value in the
dashboard; once it is shared, only this command line can.

Examples:
  hookmill secrets share GIT_READ billing shop
  hookmill secrets share GIT_READ billing --only`)
    .argument('<name>', 'name of the team secret')
    .argument('[factories...]', 'the factories that may use it too')
    .option('--all-factories', 'every factory of the home, also later ones')
    .option('--only', 'no other factory may use it any more')
    .action(async (name: string, given: string[], options: ShareOptions, command: CliCommand) => {
      const { allFactories = false, only = false } = options;
      if (allFactories === given.length > 0) throw new UsageError('name factories, or use --all-factories');
      for (const factory of given) requireFactoryName(factory);
      const context = await openContext(command);
      const { shareSecret } = await import('../../operations/access/secrets.ts');
      const factories = allFactories ? 'All factories' : given.join(', ');
      const shared = `${factories} may now use ${name}${only ? ', and no other factory' : ''}`;
      await recordOwnChange(context, 'shareSecret', shared, () =>
        shareSecret(context.store, name, allFactories ? null : given, only),
      );
      printStatus(`${shared}.`);
    });
}

function remove(command: CliCommand): void {
  command
    .explain(`remove a team secret that no webhook uses

Examples:
  hookmill secrets remove OLD_TOKEN
  hookmill --home /srv/hookmill secrets remove OLD_TOKEN`)
    .argument('<name>', 'name of the team secret')
    .action(async (name: string, _, command: CliCommand) => {
      const context = await openContext(command);
      await recordOwnChange(context, 'removeSecret', name, () => context.store.teamSecrets.remove(name));
      printStatus(`Removed ${name}.`);
    });
}
