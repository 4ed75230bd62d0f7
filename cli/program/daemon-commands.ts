import { type Command, Option } from 'commander';
import { addCommand } from '../commands/add-command.ts';
import { addRepositoryOptions } from '../reconcile/repository-options.ts';

/** The daemon. */
export function addDaemonCommands(program: Command): void {
  const option = (flags: string, variable: string, description: string) =>
    new Option(flags, description).env(`HOOKMILL_${variable}`);
  const serve = addCommand(
    program,
    'serve',
    'receive deliveries for every factory of the home',
    `
Settings come from flags, then the environment, then the configuration file. Logs go to standard error as JSON
lines; one line on standard output says that it is ready. SIGTERM and SIGINT stop it gracefully.
With a repository, the factory of --factory follows it; \`repositories\` in the file has several factories follow theirs.

Examples:
  hookmill serve
  hookmill serve --host 0.0.0.0 --port 80 --base-url https://hooks.example.com --config hookmill-daemon.yaml
  hookmill serve --repository https://git.example.com/acme/hooks.git --branch production`,
  )
    .addOption(option('--host <address>', 'HOST', 'address of the ingress (default: 127.0.0.1)'))
    .addOption(option('--port <port>', 'PORT', 'port of the ingress; 0 takes a free one (default: 8080)'))
    .addOption(
      option(
        '--management-port <port>',
        'MANAGEMENT_PORT',
        'loopback port of health and metrics (default: 8081)',
      ),
    )
    .addOption(option('--base-url <url>', 'BASE_URL', 'public URL of the ingress'))
    .addOption(
      option('--log-level <level>', 'LOG_LEVEL', 'least severe level that is logged (default: info)'),
    )
    .addOption(option('--config <file>', 'CONFIG', 'YAML file with these and all other settings'));
  addRepositoryOptions(serve).action(async (_, command) =>
    (await import('../commands/daemon/serve.ts')).serve(command),
  );
}
