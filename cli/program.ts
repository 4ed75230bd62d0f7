import { Argument, Command, Option } from 'commander';
import { permissions } from '../schema/permission.ts';
import { formatNames } from './formats/format.ts';
import { addGlobalOptions } from './global-options.ts';
import { addRepositoryOptions } from './repository-options.ts';
import { version } from './version.ts';

/** The command line. A command's own module is loaded when it runs, so that starting up stays quick. */
export function createProgram(): Command {
  const program = new Command('hookmill')
    .description('Inbound webhooks as code: validate, plan and apply definitions; receive deliveries.')
    .version(version)
    // Before any subcommand: each takes this over as it is made.
    .exitOverride()
    .showHelpAfterError('(add --help for what it takes)')
    .addHelpText(
      'after',
      `
Getting started:
  hookmill secrets generate DEPLOYS_TOKEN   make the credential that webhooks/deploys.yaml names
  hookmill validate && hookmill plan        check the definitions, see what would change
  hookmill apply                            make them the applied state
  hookmill serve                            receive deliveries

Exit status: 0 done or clean, 1 problems found, 2 wrong usage, 3 unexpected failure.`,
    );
  addGlobalOptions(program);
  addInit(program);
  addAdd(program);

  add(
    program,
    'validate',
    'check definitions, without state or secrets',
    `
Examples:
  hookmill validate
  hookmill validate teams/payments teams/hosting --format json
  hookmill validate --changed-since origin/main --secrets-from secret-names.txt
  hookmill validate --format sarif > hookmill.sarif

The format is github where GITHUB_ACTIONS is set, gitlab where GITLAB_CI is, else text. Rules, with examples:
docs/diagnostics/README.md.`,
  )
    .argument(
      '[paths...]',
      'definition files or definitions directories; several directories are several factories',
    )
    .addOption(new Option('--format <format>', 'how findings are printed').choices(formatNames))
    .option('--changed-since <revision>', 'only findings in files that differ from this git revision')
    .option('--secrets-from <file>', 'check secretName against a file of names, one a line')
    .action(async (paths, _, command) => (await import('./commands/validate.ts')).validate(paths, command));

  add(
    program,
    'plan',
    'show what an apply would change',
    `
Tells what changes mean for senders and runs, by the deliveries in the log of the home: how lately and how often a
webhook was used, and which stored deliveries a changed automation would judge anew.

Examples:
  hookmill plan
  hookmill plan --detailed-exitcode -o markdown > comment.md`,
  )
    .option('--detailed-exitcode', 'exit with 2 if there are changes')
    .option('--out <file>', 'also write the plan to a file, for hookmill apply <file>')
    .action(async (_, command) => (await import('./commands/plan.ts')).planCommand(command));

  add(
    program,
    'apply',
    'make the definitions the applied state, all or nothing',
    `
Each new webhook is assigned its UID and ingress URL. A webhook whose file is gone is destroyed: its URL never
comes back, so that needs --yes, or a yes at the prompt.

With a file that plan --out wrote, exactly that plan is applied, without asking. If the definitions, the team
secrets or the applied state have moved since, nothing is.

A factory that follows the branch of a repository is reconciled to its tip; the files here are not looked at.

Examples:
  hookmill apply --dry-run
  hookmill plan --out reviewed.plan && hookmill apply reviewed.plan`,
  )
    .argument('[plan]', 'a file that plan --out wrote')
    .option('--yes', 'destroy without asking')
    .option('--dry-run', 'show the plan and stop')
    .option('--adopt', 'apply the files to a factory that is managed in the dashboard or follows a branch')
    .action(async (plan, _, command) => (await import('./commands/apply.ts')).apply(plan, command));

  addReconcile(program);
  add(
    program,
    'status',
    'show what is applied and how the definitions differ from it',
    `
Examples:
  hookmill status
  hookmill status -o json`,
  ).action(async (_, command) => (await import('./commands/status.ts')).status(command));

  add(
    program,
    'schema',
    'print the JSON Schema of a kind of file, by which editors complete and explain it',
    `
webhook is for webhooks/*.yaml, automation for automations/*.yaml, workspace for hookmill.yaml, and daemon for what
serve --config reads. yaml-language-server takes it by a first line # yaml-language-server: $schema=<path>.

Examples:
  hookmill schema webhook > webhook.schema.json
  hookmill schema daemon | jq .properties.limits`,
  )
    .addArgument(
      new Argument('<kind>', 'kind of file').choices(['webhook', 'automation', 'workspace', 'daemon']),
    )
    .action(async kind => (await import('./commands/schema.ts')).printSchema(kind));

  addSecrets(program);
  addTokens(program);
  addWebhooks(program);
  addDeliveries(program);
  addAutomations(program);
  addRuns(program);
  addServe(program);
  addSend(program);
  addCompletion(program);
  addSchemes(program);
  return program;
}

function addInit(program: Command): void {
  add(
    program,
    'init',
    'scaffold a definitions repository; what exists is kept as it is',
    `
Writes the folders, hookmill.yaml, the schemas that editors check against, and what makes CI and pre-commit validate
each change. In a folder of a repository, the files for CI and pre-commit go to the repository's root.

Examples:
  hookmill init
  hookmill init teams/payments --factory payments --ci github`,
  )
    .argument('[directory]', 'where the definitions are to lie, made if it is not there', '.')
    .addOption(
      new Option('--ci <host>', 'the CI that gets a workflow')
        .choices(['all', 'github', 'gitlab', 'none'])
        .default('all'),
    )
    .action(async (directory, _, command) => (await import('./commands/init.ts')).init(directory, command));
}

function addReconcile(program: Command): void {
  const load = () => import('./commands/reconcile.ts');
  const reconcile = add(
    program,
    'reconcile',
    'make the tip of a production branch the applied state, again at each interval',
    `
The repository comes from flags, then the environment, then the entry of the factory in the daemon's configuration
file, then from the last reconcile. A tip that is invalid changes nothing. \`serve\` takes the same flags, and needs no
reconcile beside it.

Examples:
  hookmill reconcile --once --repository https://git.example.com/acme/hooks.git
  hookmill reconcile --once --allow-rewind
  hookmill reconcile suspend`,
  );
  addRepositoryOptions(reconcile)
    .option('--config <file>', "the daemon's configuration file, for its repositories")
    .option('--once', 'reconcile once; exit with 1 if it failed')
    .option('--allow-empty', 'with --once: apply a tip without any definition')
    .option('--allow-rename', 'with --once: apply renamed webhooks, whose URLs move')
    .option('--allow-rewind', 'with --once: follow a branch whose history was rewritten')
    .action(async (_, command) => (await load()).reconcileCommand(command));
  add(
    reconcile,
    'suspend',
    'leave the applied state as it is, whatever is pushed',
    `
The daemon and every other reconcile of the factory keep to it. What is applied by hand meanwhile is taken back when
reconciling is resumed.

Examples:
  hookmill reconcile suspend
  hookmill --factory payments reconcile suspend`,
  ).action(async (_, command) => (await load()).suspend(command));
  add(
    reconcile,
    'resume',
    'follow the branch again',
    `
Examples:
  hookmill reconcile resume
  hookmill reconcile resume && hookmill reconcile --once`,
  ).action(async (_, command) => (await load()).resume(command));
}

function addAdd(program: Command): void {
  add(
    program,
    'add',
    'write the definition of a webhook for a sender, and tell what to do next',
    `
Tells which team secret to make, in the order in which the sender's provider issues it, and what to set there. The
schemes are those of \`hookmill schemes list\`; token and url_token are for senders that sign nothing.

Examples:
  hookmill add stripe
  hookmill add token --name deploys --secret-name DEPLOYS_TOKEN`,
  )
    .argument('<scheme>', "the sender's signature scheme, or token, or url_token")
    .option('--name <name>', 'name of the webhook (default: the scheme)')
    .option('--secret-name <name>', 'its team secret (default: made of the name)')
    .option('--dry-run', 'show the definition and write nothing')
    .action(async (scheme, _, command) => (await import('./commands/add.ts')).add(scheme, command));
}

function addSecrets(program: Command): void {
  const secrets = add(
    program,
    'secrets',
    'manage team secrets: the credentials that definitions name',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets list`,
  );
  const load = () => import('./commands/secrets.ts');
  add(
    secrets,
    'set',
    'give a team secret a value, read from standard input or a prompt',
    `
The value is standard input to its end, less one final newline. Webhooks use it once they apply again.

Examples:
  hookmill secrets set GITHUB_WEBHOOK < secret.txt
  pass show stripe/webhook | hookmill secrets set STRIPE_WEBHOOK`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).set(name, command));
  add(
    secrets,
    'generate',
    'give a team secret a random value and print it, once',
    `
Examples:
  hookmill secrets generate DEPLOYS_TOKEN
  hookmill secrets generate BILLING_EVENTS --format whsec`,
  )
    .argument('<name>', 'name of the team secret')
    .addOption(
      new Option('--format <format>', 'token: URL-safe text; whsec: as Standard Webhooks senders take it')
        .choices(['token', 'whsec'])
        .default('token'),
    )
    .action(async (name, _, command) => (await load()).generate(name, command));
  add(
    secrets,
    'declare',
    'make a team secret without a value yet',
    `
For a provider that issues its secret only after it has the URL: the webhook applies and answers 401 until the
secret is set and the webhook applies again.

Examples:
  hookmill secrets declare STRIPE_WEBHOOK
  hookmill secrets declare STRIPE_WEBHOOK && hookmill apply`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).declare(name, command));
  add(
    secrets,
    'list',
    'list team secrets and the webhooks that use them, never values',
    `
Examples:
  hookmill secrets list
  hookmill secrets list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  add(
    secrets,
    'remove',
    'remove a team secret that no webhook uses',
    `
Examples:
  hookmill secrets remove OLD_TOKEN
  hookmill --home /srv/hookmill secrets remove OLD_TOKEN`,
  )
    .argument('<name>', 'name of the team secret')
    .action(async (name, _, command) => (await load()).remove(name, command));
}

function addTokens(program: Command): void {
  const tokens = add(
    program,
    'tokens',
    'manage API tokens: who may use the management API and the dashboard',
    `
Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens list`,
  );
  const load = () => import('./commands/tokens.ts');
  add(
    tokens,
    'create',
    'make an API token and print it, once',
    `
It is for one factory, unless told otherwise. Signing in to the dashboard takes one too.

Examples:
  hookmill tokens create laptop --permission manage
  hookmill tokens create monitoring --all-factories`,
  )
    .argument('<name>', 'what it is called in lists and logs')
    .addOption(
      new Option('--permission <permission>', 'what it permits').choices([...permissions]).default('read'),
    )
    .option('--all-factories', 'for every factory of the home')
    .action(async (name, _, command) => (await load()).create(name, command));
  add(
    tokens,
    'list',
    'list API tokens and their last use, never the tokens',
    `
Examples:
  hookmill tokens list
  hookmill tokens list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  add(
    tokens,
    'revoke',
    'revoke an API token; a running daemon refuses it at once',
    `
Examples:
  hookmill tokens revoke laptop
  hookmill --home /srv/hookmill tokens revoke laptop`,
  )
    .argument('<name>', 'name of the API token')
    .action(async (name, _, command) => (await load()).revoke(name, command));
}

function addWebhooks(program: Command): void {
  const webhooks = add(
    program,
    'webhooks',
    'inspect applied webhooks',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks show deploys`,
  );
  const load = () => import('./commands/webhooks.ts');
  add(
    webhooks,
    'list',
    'list the applied webhooks and their ingress URLs',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  add(
    webhooks,
    'show',
    'show one applied webhook',
    `
Examples:
  hookmill webhooks show deploys
  hookmill webhooks show wh_0123456789abcdefghijklmn -o json`,
  )
    .argument('<name>', 'name or UID')
    .action(async (name, _, command) => (await load()).show(name, command));
}

function addDeliveries(program: Command): void {
  const deliveries = add(
    program,
    'deliveries',
    'read the delivery log',
    `
Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
  const load = () => import('./commands/deliveries.ts');
  add(
    deliveries,
    'list',
    'list deliveries, newest first',
    `
Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries list --outcome 'Rejected (auth)' --limit 10`,
  )
    .option('--webhook <name>', 'only those of one webhook')
    .option('--outcome <label>', 'only those with this outcome')
    .option('--limit <n>', 'how many at the most', '50')
    .action(async (_, command) => (await load()).list(command));
  add(
    deliveries,
    'replay',
    'start new runs from a stored payload',
    `
The automations applied now are matched anew. A replay is marked as one, and is no delivery.

Examples:
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef --automation triage`,
  )
    .argument('<id>', 'id of the delivery')
    .option('--automation <name>', 'only this automation')
    .action(async (id, _, command) => (await load()).replay(id, command));
  add(
    deliveries,
    'show',
    'explain one delivery: how it was judged, what it started, and its payload',
    `
Examples:
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef --payload > body.json`,
  )
    .argument('<id>', 'id of the delivery')
    .option('--payload', 'print the stored body alone, byte for byte')
    .action(async (id, _, command) => (await load()).show(id, command));
}

function addAutomations(program: Command): void {
  const automations = add(
    program,
    'automations',
    'inspect and try automations',
    `
Examples:
  hookmill automations list
  hookmill automations test triage --payload event.json`,
  );
  const load = () => import('./commands/automations.ts');
  add(
    automations,
    'list',
    'list the applied automations and the webhooks they listen to',
    `
Examples:
  hookmill automations list
  hookmill automations list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  add(
    automations,
    'show',
    'show one applied automation',
    `
Examples:
  hookmill automations show triage
  hookmill automations show triage -o json`,
  )
    .argument('<name>', 'name of the automation')
    .action(async (name, _, command) => (await load()).show(name, command));
  add(
    automations,
    'test',
    'tell whether a payload would start a run, check by check and clause by clause',
    `
The definition in the definitions directory is tested, or the applied one where there is none.

Examples:
  hookmill automations test triage --delivery dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill automations test triage --payload event.json
  hookmill automations test triage --fixtures`,
  )
    .argument('<name>', 'name of the automation')
    .option('--delivery <id>', 'a stored delivery')
    .option('--payload <file>', 'a file; the webhook check is taken as passed')
    .option('--fixtures', 'run automations/<name>.fixtures/*.json')
    .action(async (name, _, command) => (await load()).test(name, command));
}

function addRuns(program: Command): void {
  const runs = add(
    program,
    'runs',
    'inspect and retry runs',
    `
Examples:
  hookmill runs list --state failed
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
  const load = () => import('./commands/runs.ts');
  add(
    runs,
    'list',
    'list runs, newest first',
    `
Examples:
  hookmill runs list --state failed
  hookmill runs list --automation triage -o json`,
  )
    .option('--automation <name>', 'only those of one automation')
    .option('--state <state>', 'only those in this state')
    .option('--limit <n>', 'how many at the most', '50')
    .action(async (_, command) => (await load()).list(command));
  add(
    runs,
    'show',
    'show one run',
    `
Examples:
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef -o json`,
  )
    .argument('<id>', 'id of the run')
    .action(async (id, _, command) => (await load()).show(id, command));
  add(
    runs,
    'retry',
    'queue a failed run again',
    `
Examples:
  hookmill runs retry run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs list --state failed -o json | jq -r '.[].id' | xargs -n1 hookmill runs retry`,
  )
    .argument('<id>', 'id of the run')
    .action(async (id, _, command) => (await load()).retry(id, command));
}

function addServe(program: Command): void {
  const option = (flags: string, variable: string, description: string) =>
    new Option(flags, description).env(`HOOKMILL_${variable}`);
  const serve = add(
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
    (await import('./commands/serve.ts')).serve(command),
  );
}

function addSend(program: Command): void {
  add(
    program,
    'send',
    'post a payload as the sender of a webhook would, signed under its scheme',
    `
Credentials come from the team secrets. A sender without a webhook here gives its scheme, and its secret on
standard input or at a prompt; for schemes with a public key that is the private key, as PKCS #8 PEM.

Examples:
  hookmill send deploys --payload deploy.json
  hookmill send --scheme stripe --to https://hooks.example.com/webhooks/w/wh_… --payload event.json < secret.txt`,
  )
    .argument('[webhook]', 'name or UID of an applied webhook')
    .requiredOption('--payload <file>', 'the request body, sent byte for byte')
    .option('--to <url>', 'where to post (default: the ingress URL of the webhook)')
    .option('--scheme <id>', 'sign under this scheme, for a sender without a webhook here')
    .option('--id <id>', "the delivery's id, for schemes and headers that carry one (default: a new one)")
    .action(async (name, _, command) => (await import('./commands/send.ts')).send(name, command));
}

function addSchemes(program: Command): void {
  const schemes = add(
    program,
    'schemes',
    'what is known of the providers that sign their requests',
    `
Examples:
  hookmill schemes list
  hookmill schemes show stripe`,
  );
  const load = () => import('./commands/schemes.ts');
  add(
    schemes,
    'list',
    'list the signature schemes',
    `
Examples:
  hookmill schemes list
  hookmill schemes list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  add(
    schemes,
    'show',
    'show what a provider signs, where its secret is, and an example definition',
    `
Examples:
  hookmill schemes show stripe
  hookmill schemes show github -o json`,
  )
    .argument('<id>', 'id of the signature scheme')
    .action(async (id, _, command) => (await load()).show(id, command));
}

function addCompletion(program: Command): void {
  const load = () => import('./commands/completion.ts');
  add(
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

/** A subcommand that takes the global options as well. */
function add(parent: Command, name: string, description: string, help?: string): Command {
  const command = parent.command(name).description(description);
  if (help) command.addHelpText('after', help);
  command.configureHelp({ showGlobalOptions: true });
  return command;
}
