import type { Step } from '../scaffold/new-webhook.ts';
import { colours } from './colours.ts';
import { shellWord } from './shell-word.ts';

/** Numbered, each command on a line of its own, ready to paste where the user is. */
export function renderSteps(steps: readonly Step[], directory: string): string {
  const hookmill = directory === '.' ? 'hookmill' : `hookmill -C ${shellWord(directory)}`;
  return steps
    .map(({ say, run }, index) => {
      const text = say.replaceAll('\n', '\n     ');
      return `  ${index + 1}. ${text}\n${run ? `       ${colours.bold(`${hookmill} ${run}`)}\n` : ''}`;
    })
    .join('');
}
