import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** What can stand where a word is being written. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** More candidates, which only the machine knows. */
  readonly source?: Source | undefined;
  /** The shell itself completes paths. */
  readonly paths?: 'files' | 'directories' | undefined;
  /** Stands before each candidate of the source: the option whose value they are. */
  readonly prefix: string;
  /** Values of the options that stand before, by the name that commander gives the option. */
  readonly given: ReadonlyMap<string, string>;
}

export type Source = 'webhooks' | 'automations' | 'secrets' | 'schemes' | 'senders' | 'outcomes';

/**
 * Completes the last of the words after `hookmill`, which may be empty. All of it is read off the program, so that no
 * command or option can be forgotten.
 */
export function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, operands, option, given } = walk(program, words.slice(0, -1));
  const found = (prefix: string, completion: Partial<Completion>): Completion => {
    const candidates = (completion.candidates ?? []).map(one => ({ ...one, value: prefix + one.value }));
    const fitting = candidates.filter(({ value }) => value.startsWith(current));
    return { ...completion, candidates: fitting, prefix, given };
  };
  if (option) return found('', valuesOf(option, option.attributeName(), command));
  const [, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  const assigned = flag === undefined ? undefined : optionOf(command, flag);
  if (assigned) return found(`${flag}=`, valuesOf(assigned, assigned.attributeName(), command));
  if (current.startsWith('-')) return found('', { candidates: optionsOf(command) });
  if (command.commands.length > 0) return found('', { candidates: subcommandsOf(command) });
  const arguments_ = command.registeredArguments;
  const argument = arguments_[operands] ?? arguments_.findLast(({ variadic }) => variadic);
  return found('', argument ? valuesOf(argument, argument.name(), command) : {});
}

interface Place {
  readonly command: Command;
  /** How many operands of the command stand before. */
  readonly operands: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
  readonly given: ReadonlyMap<string, string>;
}

function walk(program: Command, words: readonly string[]): Place {
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
      const named = optionOf(command, flag);
      if (named && value.length > 0) given.set(named.attributeName(), value.join('='));
      else if (named?.required) option = named;
    } else {
      const subcommand = command.commands.find(one => one.name() === word);
      if (subcommand) command = subcommand;
      else operands += 1;
    }
  }
  return { command, operands, option, given };
}

function optionOf(command: Command, flag: string): Option | undefined {
  const here = command.options.find(({ long, short }) => flag === long || flag === short);
  return here ?? (command.parent ? optionOf(command.parent, flag) : undefined);
}

function optionsOf(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
}

function subcommandsOf(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map(one => ({ value: one.name(), description: one.description() }));
}

function valuesOf(of: Option | Argument, name: string, command: Command): Partial<Completion> {
  if (of.argChoices) return { candidates: of.argChoices.map(value => ({ value })) };
  const placeholder = 'flags' in of ? (/<(\w+)>/.exec(of.flags)?.[1] ?? '') : name;
  const group = command.parent?.name() ?? '';
  return {
    source: sources[name] ?? ('flags' in of ? undefined : groupSources[`${group} ${name}`]),
    paths: paths[placeholder],
  };
}

/** By the name of an option or argument. */
const sources: Readonly<Record<string, Source>> = {
  webhook: 'webhooks',
  automation: 'automations',
  scheme: 'senders',
  outcome: 'outcomes',
};
/** By a group of commands and the name of an argument. */
const groupSources: Readonly<Record<string, Source>> = {
  'webhooks name': 'webhooks',
  'automations name': 'automations',
  'secrets name': 'secrets',
  'schemes id': 'schemes',
};
/** By the placeholder of an option, or the name of an argument. */
const paths: Readonly<Record<string, Completion['paths']>> = {
  file: 'files',
  paths: 'files',
  plan: 'files',
  dir: 'directories',
  directory: 'directories',
};
