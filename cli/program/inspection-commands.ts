import type { Command } from 'commander';
import { addCommand } from '../commands/add-command.ts';

/** What looks at the applied state and the delivery log. */
export function addInspectionCommands(program: Command): void {
  addWebhooks(program);
  addDeliveries(program);
  addAutomations(program);
  addRuns(program);
}

function addWebhooks(program: Command): void {
  const webhooks = addCommand(
    program,
    'webhooks',
    'inspect applied webhooks',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks show deploys`,
  );
  const load = () => import('../commands/webhooks/show.ts');
  addCommand(
    webhooks,
    'list',
    'list the applied webhooks and their ingress URLs',
    `
Examples:
  hookmill webhooks list
  hookmill webhooks list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  addCommand(
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
  const deliveries = addCommand(
    program,
    'deliveries',
    'read the delivery log',
    `
Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
  const load = () => import('../commands/deliveries/show.ts');
  addCommand(
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
  addCommand(
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
  addCommand(
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
  const automations = addCommand(
    program,
    'automations',
    'inspect and try automations',
    `
Examples:
  hookmill automations list
  hookmill automations test triage --payload event.json`,
  );
  const load = () => import('../commands/automations/test.ts');
  addCommand(
    automations,
    'list',
    'list the applied automations and the webhooks they listen to',
    `
Examples:
  hookmill automations list
  hookmill automations list -o json`,
  ).action(async (_, command) => (await load()).list(command));
  addCommand(
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
  addCommand(
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
  const runs = addCommand(
    program,
    'runs',
    'inspect and retry runs',
    `
Examples:
  hookmill runs list --state failed
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef`,
  );
  const load = () => import('../commands/runs/show.ts');
  addCommand(
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
  addCommand(
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
  addCommand(
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
