import { Argument, type Command } from 'commander';
import type { Shell } from '../../completion/completion-scripts.ts';
import { printExactly } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill completion`. */
export function declareCompletion(parent: Command): Command {
  return addCommand(
    parent,
    'completion',
    'print a script that lets a shell complete commands, options and names',
    `
For bash, add the first line to ~/.bashrc. For zsh, add the second line to ~/.zshrc, after compinit. For fish, run the
third line once.

Examples:
  eval "$(hookmill completion bash)"
  source <(hookmill completion zsh)
  hookmill completion fish > ~/.config/fish/completions/hookmill.fish`,
  )
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completionScripts } = await import('../../completion/completion-scripts.ts');
      printExactly(completionScripts[shell]);
    });
}
