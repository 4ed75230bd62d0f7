import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** The words that can complete the current one. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** The names to read as more candidates. */
  readonly source?: Source | undefined;
  /** The shell completes paths itself. */
  readonly paths?: 'files' | 'directories' | undefined;
  /** The text to print before each candidate of the source, such as `--webhook=`. */
  readonly prefix: string;
  /** The values of earlier options, by commander's attribute name, such as `secretName`. */
  readonly given: ReadonlyMap<string, string>;
}

export type Source =
  | ('webhooks' | 'automations' | 'secrets' | 'factories')
  | ('schemes' | 'senders' | 'outcomes' | 'runStates' | 'deliveries' | 'runs');

/**
 * Completes the last of the words after `hookmill`; that word may be empty. Commands and options come from the program
 * itself, so none can be missing.
 */
export function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, operands, option, given } = findPosition(program, words.slice(0, -1));
  const found = (prefix: string, completion: Partial<Completion>): Completion => {
    const candidates = (completion.candidates ?? []).map(one => ({ ...one, value: prefix + one.value }));
    const fitting = candidates.filter(({ value }) => value.startsWith(current));
    return { ...completion, candidates: fitting, prefix, given };
  };
  if (option) return found('', findValues(option, option.attributeName(), command));
  const [, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  const assigned = flag === undefined ? undefined : findOption(command, flag);
  if (assigned) return found(`${flag}=`, findValues(assigned, assigned.attributeName(), command));
  if (current.startsWith('-')) return found('', { candidates: listOptions(command) });
  if (command.commands.length > 0) return found('', { candidates: listSubcommands(command) });
  const arguments_ = command.registeredArguments;
  const argument = arguments_[operands] ?? arguments_.findLast(({ variadic }) => variadic);
  return found('', argument ? findValues(argument, argument.name(), command) : {});
}

interface Position {
  readonly command: Command;
  /** Number of operands before the current word. */
  readonly operands: number;
  /** The option whose value is the current word. */
  readonly option: Option | undefined;
  readonly given: ReadonlyMap<string, string>;
}

function findPosition(program: Command, words: readonly string[]): Position {
  let command = program;
  let operands = 0;
  let option: Option | undefined;
  const given = new Map<string, string>();
  for (const word of words) {
    if (option) {
      given.set(option.attributeName(), word);
      option = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', ...value] = word.split('=');
      const named = findOption(command, flag);
      if (named && value.length > 0) given.set(named.attributeName(), value.join('='));
      else if (named?.required) option = named;
    } else {
      // After `help` come the names of commands, as after its parent.
      const subcommand = command.commands.find(one => one.name() === word && word !== 'help');
      if (subcommand) command = subcommand;
      else operands += 1;
    }
  }
  return { command, operands, option, given };
}

function findOption(command: Command, flag: string): Option | undefined {
  const here = command.options.find(({ long, short }) => flag === long || flag === short);
  return here ?? (command.parent ? findOption(command.parent, flag) : undefined);
}

function listOptions(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  // Commander calls the first of two names short, however long it is.
  return options.flatMap(({ short, long, description }) =>
    [short, long].flatMap(value => (value === undefined ? [] : [{ value, description }])),
  );
}

function listSubcommands(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map(one => ({ value: one.name(), description: one.description() }));
}

function findValues(of: Option | Argument, name: string, command: Command): Partial<Completion> {
  if (of.argChoices) return { candidates: of.argChoices.map(value => ({ value })) };
  const placeholder = 'flags' in of ? (/<(\w+)>/.exec(of.flags)?.[1] ?? '') : name;
  const group = command.parent?.name() ?? '';
  return {
    source: sources[name] ?? ('flags' in of ? undefined : groupSources[`${group} ${name}`]),
    paths: paths[placeholder],
  };
}

/** The source for each option or argument, by its name. */
const sources: Readonly<Record<string, Source>> = {
  webhook: 'webhooks',
  automation: 'automations',
  scheme: 'senders',
  outcome: 'outcomes',
  state: 'runStates',
  delivery: 'deliveries',
  factory: 'factories',
  factories: 'factories',
};
/** The source for each argument, by its group of commands and its name. */
const groupSources: Readonly<Record<string, Source>> = {
  'webhooks name': 'webhooks',
  'automations name': 'automations',
  'secrets name': 'secrets',
  'schemes id': 'schemes',
  'deliveries id': 'deliveries',
  'runs id': 'runs',
};
/** The kind of path to complete, by the placeholder of the option or the name of the argument. */
const paths: Readonly<Record<string, Completion['paths']>> = {
  file: 'files',
  paths: 'files',
  plan: 'files',
  dir: 'directories',
  place: 'directories',
  directory: 'directories',
};
