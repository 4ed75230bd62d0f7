import { Argument, type Command, Option } from 'commander';
import { addCommand } from '../commands/add-command.ts';
import { formatNames } from '../formats/load-format.ts';

/** What works on definition files. */
export function addDefinitionCommands(program: Command): void {
  addInit(program);
  addAdd(program);
  addValidate(program);
  addPlan(program);
  addApply(program);
  addStatus(program);
  addSchema(program);
}

function addInit(program: Command): void {
  addCommand(
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
    .action(async (directory, _, command) =>
      (await import('../commands/definitions/init.ts')).init(directory, command),
    );
}

function addAdd(program: Command): void {
  addCommand(
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
    .action(async (scheme, _, command) =>
      (await import('../commands/definitions/add.ts')).add(scheme, command),
    );
}

function addValidate(program: Command): void {
  addCommand(
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
    .action(async (paths, _, command) =>
      (await import('../commands/definitions/validate.ts')).validate(paths, command),
    );
}

function addPlan(program: Command): void {
  addCommand(
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
    .action(async (_, command) => (await import('../commands/definitions/plan.ts')).planCommand(command));
}

function addApply(program: Command): void {
  addCommand(
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
    .action(async (plan, _, command) =>
      (await import('../commands/definitions/apply.ts')).apply(plan, command),
    );
}

function addStatus(program: Command): void {
  addCommand(
    program,
    'status',
    'show what is applied and how the definitions differ from it',
    `
Examples:
  hookmill status
  hookmill status -o json`,
  ).action(async (_, command) => (await import('../commands/definitions/status.ts')).status(command));
}

function addSchema(program: Command): void {
  addCommand(
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
    .action(async kind => (await import('../commands/definitions/schema.ts')).printSchema(kind));
}
