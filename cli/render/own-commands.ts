import { quoteShellWord } from '../../schema/clients/render-curl.ts';

/** The options that choose what a command works on. A next command needs them too; of the environment, it has what this one has. */
const placeOptions = ['-C', '--directory', '--home', '--store', '--factory', '--server'];

/** Commands that work only on a home of this machine. */
const homeOnly = /^(secrets|key|tokens|sessions|serve|doctor|store|reconcile|deliveries check)\b/;

/**
 * Renders a command line to paste next: the words after `hookmill`, with the place that this command was given. The place
 * is `argv`'s, unless the caller chose another directory for the next commands.
 */
export function renderNextCommand(words: string, place: readonly string[] = findPlace(process.argv)): string {
  const isElsewhere = place.some(word => word.startsWith('--server'));
  const given = isElsewhere && homeOnly.test(words) ? [] : place;
  return [process.env.HOOKMILL_COMMAND ?? 'hookmill', ...given.map(quoteShellWord), words].join(' ');
}

/** Completes the commands that a message names in backticks, so that each works if the reader pastes it. */
export function completeCommands(message: string, place?: readonly string[]): string {
  return message.replace(/`hookmill ([a-z][^`]*)`/g, (_, words) => `\`${renderNextCommand(words, place)}\``);
}

/** Finds the options of a place in a command line: `-C x`, `-Cx`, `--home x` or `--home=x`. */
function findPlace(argv: readonly string[]): readonly string[] {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return words.flatMap((word, index) => {
    const [, name = '', value = words[index + 1] ?? ''] =
      /^(-C|--[a-z]+)(?:(?<=^-C)|=|$)(.+)?$/s.exec(word) ?? [];
    return placeOptions.includes(name) ? [name, value] : [];
  });
}
