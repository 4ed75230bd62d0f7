/** A command line that starts hookmill, as the words after `hookmill`. */
export interface Invocation {
  readonly words: readonly string[];
  /** More words follow that are not in the text: xargs adds them. */
  readonly isOpen: boolean;
}

/** Finds the uses of hookmill in a shell's command lines. Understands only the shell syntax that the examples use. */
export function shellInvocations(text: string): readonly Invocation[] {
  const lines = text
    .replaceAll(/\\\n\s*/g, ' ')
    // A substitution contains a separate command line.
    .replaceAll(/"?[$<]\(([^()]*)\)"?/g, '; $1 ;')
    .split('\n');
  return lines.flatMap(line => commandsOf(wordsOf(line)).flatMap(words => invocationOf(words) ?? []));
}

function invocationOf(words: readonly string[]): Invocation | undefined {
  const start = words.findIndex(word => /^(\.\/)?hookmill(@\S+)?$/.test(word));
  const before = words.slice(0, start);
  if (start < 0 || !before.every(word => leading.test(word))) return undefined;
  const after = words.slice(start + 1).map(word => (/^\$\w+$/.test(word) ? 'value' : word));
  return { words: after, isOpen: before.includes('xargs') };
}

// Words that may precede hookmill in one command: variables, and commands that run others.
const leading = /^(\w+=.*|npx|--no-install|sudo|xargs|-n1|exec|\$|-|run:)$/;

function commandsOf(words: readonly string[]): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const word of words) {
    if (['|', '||', '&&', ';', '&'].includes(word)) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands;
}

/** Splits a line into words. Removes quotes, redirections with their files, and comments. */
function wordsOf(line: string): readonly string[] {
  const tokens =
    line
      .replaceAll(/<[a-z][\w -]*>/g, 'placeholder')
      .match(/#.*|(?:'[^']*'|"[^"]*"|\\.|[^\s'"|&;<>\\])+|\|\|?|&&?|;|[0-9]?[<>]+&?/g) ?? [];
  const comment = tokens.findIndex(token => token.startsWith('#'));
  const kept = comment < 0 ? tokens : tokens.slice(0, comment);
  const isRedirection = (token: string | undefined) => token !== undefined && /^[0-9]?[<>]+&?$/.test(token);
  return kept
    .filter((token, index) => !isRedirection(token) && !isRedirection(kept[index - 1]))
    .map(token => token.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}
