import { quoteShellWord } from '../../schema/shell-word.ts';
import { colours } from './colours.ts';

/** Something for the user to do; `run` is a command line after `hookmill`. */
export interface Step {
  readonly say: string;
  readonly run?: string;
}

/** Numbered steps, each command on a line of its own, ready to paste in the current directory. */
export function renderSteps(steps: readonly Step[], directory: string): string {
  const hookmill = directory === '.' ? 'hookmill' : `hookmill -C ${quoteShellWord(directory)}`;
  return steps
    .map(({ say, run }, index) => {
      const text = say.replaceAll('\n', '\n     ');
      return `  ${index + 1}. ${text}\n${run ? `       ${colours.bold(`${hookmill} ${run}`)}\n` : ''}`;
    })
    .join('');
}
