import { openBackend } from '../backend/open-backend.ts';
import { type CliCommand, declareList } from './cli-command.ts';

/** Declares `hookmill runners`. */
export function declareRunners(command: CliCommand): void {
  command
    .explain(`list the runners that automations may choose

Without a subcommand, lists them.

Examples:
  hookmill runners
  hookmill --server https://hookmill.example.com runners`)
    .subcommands({ list }, 'list');
}

const list = declareList({
  description:
    'list the runners that automations of the factory may choose, as the last daemon to start offers them',
  read: async command => {
    const { backend } = await openBackend(command);
    return (await backend.call('listRunners')).runners;
  },
  empty: 'The daemon offers this factory no runner.',
  heading: ['RUNNER', 'KIND', 'AUTOMATIONS', 'REPOSITORIES'],
  toCells: ({ name, kind, automations, repositories }) => [
    ...[name, kind, automations.join(', '), repositories.join(', ')],
  ],
});
