import { Argument, type Command } from 'commander';
import { addCommand } from '../commands/add-command.ts';

/** Completion in shells. */
export function addCompletionCommands(program: Command): void {
  const load = () => import('../commands/completion/completion.ts');
  addCommand(
    program,
    'completion',
    'print the script by which a shell completes commands, options and names',
    `
For bash, add the first line to ~/.bashrc; for zsh, the second to ~/.zshrc, after compinit; for fish, run the third.

Examples:
  eval "$(hookmill completion bash)"
  source <(hookmill completion zsh)
  hookmill completion fish > ~/.config/fish/completions/hookmill.fish`,
  )
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async shell => (await load()).printScript(shell));
  // What the scripts ask: the words so far, the one to complete last.
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async words => (await load()).printCandidates(program, words));
}
