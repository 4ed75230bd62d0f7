// `npm start`: serves a factory to try things in. Copies the examples to demo/ (or the directory that is its argument),
// generates their team secrets, applies them and starts the daemon. It keeps what already exists, so the files in demo/
// can be changed freely.
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';
import { describeScheme, isStandardWebhooks } from '../signatures/schemes.ts';

const root = join(import.meta.dirname, '..');
const demo = process.argv[2] ?? join(root, 'demo');
const shown = relative('', demo);
const command = [process.execPath, join(root, 'cli/bin.js'), '-C', demo] as const;
const [node, ...leading] = command;

process.on('uncaughtException', explainFailure);
const served = await findDaemon();
if (served) {
  console.log(
    `hookmill already serves ${shown}/: its dashboard is at ${served}. Ctrl-C in its terminal stops it.`,
  );
  console.log(explainNextSteps());
  process.exit();
}

async function hookmill(...args: string[]): Promise<string> {
  return (await execa(node, [...leading, ...args])).stdout;
}

/** Returns the management URL of the daemon that serves the factory, if one answers. */
async function findDaemon(): Promise<string | undefined> {
  if (!existsSync(join(demo, '.hookmill'))) return undefined;
  // Its exit status is 1 if something is wrong, such as a mistake in a definition; a daemon may run all the same.
  const { stdout } = await execa(node, [...leading, 'status', '-o', 'json'], { reject: false });
  if (stdout === '') return undefined;
  const { daemon }: { daemon: { state: string; url: string } } = JSON.parse(stdout);
  return daemon.state === 'none' || daemon.state === 'no answer' ? undefined : daemon.url;
}

/** Ends with what a command printed, or with what keeps the factory from being written. */
function explainFailure(error: Error & { stderr?: string; path?: string }): void {
  const isUnwritable = error.path !== undefined && error.stderr === undefined;
  const remedy = isUnwritable ? `\nChoose a directory that you can write: npm start -- DIRECTORY` : '';
  console.error(`${error.stderr || error.message}${remedy}`);
  process.exit(1);
}

const copy = (part: string) => {
  if (!existsSync(join(demo, part)))
    cpSync(join(root, 'examples', part), join(demo, part), { recursive: true });
};
copy('hookmill.yaml');
copy('webhooks');
copy('automations');
copy('payloads');

const secrets: { name: string }[] = JSON.parse(await hookmill('secrets', 'list', '-o', 'json'));
const known = new Set(secrets.map(({ name }) => name));
for (const file of readdirSync(join(demo, 'webhooks'))) {
  const { secretName, signatureScheme } = parse(readFileSync(join(demo, 'webhooks', file), 'utf8'));
  const scheme = signatureScheme && describeScheme(signatureScheme);
  const format = scheme && isStandardWebhooks(scheme) ? 'whsec' : 'token';
  if (secretName !== undefined && !known.has(secretName))
    await hookmill('secrets', 'generate', secretName, '--format', format);
}
await hookmill('apply');

const level = process.env.HOOKMILL_LOG_LEVEL ?? 'warn';
const daemon = execa(node, [...leading, 'serve', '--log-level', level], {
  stdin: 'inherit',
  stdout: ['pipe', 'inherit'],
  stderr: 'inherit',
  reject: false,
});
daemon.stdout.once('data', async () => {
  // Only the daemon knows the port that was chosen.
  console.log(`\n${await hookmill('webhooks', 'list')}${explainNextSteps()}`);
});
// Ctrl-C in a terminal reaches the daemon too. Other signals reach only this process, so it passes them on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => daemon.kill('SIGTERM'));
process.exitCode = (await daemon).exitCode ?? 1;

function explainNextSteps(): string {
  return `
This factory's definition files are in ${shown}/. In a second terminal, paste:

  ./hookmill -C ${shown} send deploys --payload ${shown}/payloads/deploy.json
  ./hookmill -C ${shown} runs list

The run's prompt and payload are in ${shown}/.hookmill/runs/<run id>/. For the dashboard, open the management URL above, and
sign in with the token that this prints:

  ./hookmill -C ${shown} tokens create me --permission manage

Then follow the five minutes in README.md. Ctrl-C stops the daemon.
`;
}
