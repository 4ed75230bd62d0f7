// `npm start`: serves a factory to try things in. Copies the examples to demo/ (or the directory that is its argument),
// generates their team secrets, applies them and starts the daemon. It keeps what already exists, so the files in demo/
// can be changed freely.
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';
import { describeScheme } from '../signatures/schemes.ts';
import { isStandardWebhooks } from '../signatures/standard-webhooks.ts';

const root = join(import.meta.dirname, '..');
const demo = process.argv[2] ?? join(root, 'demo');
const command = [process.execPath, join(root, 'cli/bin.js'), '-C', demo] as const;
const [node, ...leading] = command;

async function hookmill(...args: string[]): Promise<string> {
  return (await execa(node, [...leading, ...args])).stdout;
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
  if (!known.has(secretName)) await hookmill('secrets', 'generate', secretName, '--format', format);
}
console.log(await hookmill('apply'));

const level = process.env.HOOKMILL_LOG_LEVEL ?? 'warn';
const daemon = execa(node, [...leading, 'serve', '--log-level', level], {
  stdin: 'inherit',
  stdout: ['pipe', 'inherit'],
  stderr: 'inherit',
  reject: false,
});
daemon.stdout.once('data', () => {
  console.log(`
This factory's definition files are in demo/. In a second terminal, paste:

  npx --no-install hookmill -C demo send deploys --payload demo/payloads/deploy.json
  npx --no-install hookmill -C demo runs list

The run's prompt and payload are in demo/.hookmill/runs/<run id>/. For the dashboard, open the management URL above, and
sign in with the token that this prints:

  npx --no-install hookmill -C demo tokens create me --permission manage

Then follow the five minutes in README.md. Ctrl-C stops the daemon.
`);
});
// Ctrl-C in a terminal reaches the daemon too. Other signals reach only this process, so it passes them on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => daemon.kill('SIGTERM'));
process.exitCode = (await daemon).exitCode ?? 1;
