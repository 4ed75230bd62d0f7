import { spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { openFactory, type RunningDaemon } from '../../../bench/support/factory.ts';
import type { AttackReport, AttackSpec } from './attack-shape.ts';

/** Webhooks that are attacked. Their secrets are known here, to sign what an attacker may have captured. */
const targets = { token: '', github: 'github', stripe: 'stripe', x: 'x', square: 'square' } as const;
export type Target = keyof typeof targets;
/** A weak one, which an attacker reaches by counting. */
const guessedSecret = '1500';
export const targetSecret = 'the-secret-of-the-targets-0123456789';
/** So many that the deliveries of an honest sender stay below the rate limit of each. */
const honestWebhooks = 14;

/** Makes a home with webhooks and API tokens; each attack gets a copy. */
export async function prepareHome(directory: string): Promise<PreparedHome> {
  const factory = openFactory(directory);
  for (const [name, scheme] of Object.entries(targets)) {
    const signed = scheme === '' ? '' : `authMode: signature\nsignatureScheme: ${scheme}\n`;
    factory.write(`webhooks/${name}.yaml`, `${signed}secretName: TARGET\n`);
  }
  factory.write('webhooks/guessed.yaml', 'secretName: GUESSED\n');
  for (let index = 0; index < honestWebhooks; index++) {
    factory.write(`webhooks/honest-${index}.yaml`, 'secretName: HONEST\n');
  }
  await factory.hookmillWith(targetSecret, 'secrets', 'set', 'TARGET');
  await factory.hookmillWith(guessedSecret, 'secrets', 'set', 'GUESSED');
  const honestToken = await factory.hookmill('secrets', 'generate', 'HONEST');
  const uids = await factory.apply();
  const readToken = await factory.hookmill('tokens', 'create', 'reader', '--permission', 'read');
  const manageToken = await factory.hookmill('tokens', 'create', 'manager', '--permission', 'manage');
  return { directory, uids, honestToken, readToken, manageToken };
}

export interface PreparedHome {
  readonly directory: string;
  readonly uids: ReadonlyMap<string, string>;
  readonly honestToken: string;
  readonly readToken: string;
  readonly manageToken: string;
}

/** A running daemon with a home of its own. */
export interface Stage extends PreparedHome, RunningDaemon {
  readonly seconds: number;
  ingressPath(webhook: Target | 'guessed'): string;
  /** The path of a webhook on the ingress, also if the attack is aimed at the management port. */
  webhookPath(webhook: Target): string;
  readonly unknownPath: string;
  /** How many guesses of one address may be judged. */
  readonly guessesMax: number;
  readonly honestUrls: readonly string[];
  /** Writes a file for an attacker to send. */
  writeBody(content: string): string;
  /** Runs one attack in a process of its own. */
  attack(spec: Partial<AttackSpec> & Pick<AttackSpec, 'head'>): Promise<AttackReport>;
}

const attacker = join(import.meta.dirname, 'attacker.ts');

export async function openStage(
  prepared: PreparedHome,
  directory: string,
  settings: object,
  seconds: number,
): Promise<Stage> {
  cpSync(prepared.directory, directory, { recursive: true });
  const log = join(directory, 'daemon.log');
  // With the limits as they are by default.
  const daemon = await openFactory(directory).serve({ limits: {}, logLevel: 'info', ...settings }, log);
  const pathOf = (name: string) => `/webhooks/w/${prepared.uids.get(name)}`;
  const honest = [...prepared.uids.keys()].filter(name => name.startsWith('honest-'));
  let bodies = 0;
  return {
    ...prepared,
    ...daemon,
    directory,
    seconds,
    ingressPath: pathOf,
    webhookPath: pathOf,
    unknownPath: `/webhooks/w/wh_${'0'.repeat(24)}`,
    guessesMax: 31,
    honestUrls: honest.map(name => `${daemon.ingressUrl}${pathOf(name)}`),
    writeBody: content => {
      const file = join(directory, `body-${bodies++}`);
      writeFileSync(file, content);
      return file;
    },
    attack: async given => {
      const defaults = {
        url: daemon.ingressUrl,
        from: ['127.0.1.1'],
        connections: 16,
        afterwards: 'next',
        seconds,
      };
      const child = spawn(process.execPath, [attacker], { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.end(JSON.stringify({ ...defaults, ...given }));
      return (await json(child.stdout)) as AttackReport;
    },
  };
}

/** Makes a repository whose branch `main` is small, and whose branch `large` has the given files. Returns settings that follow it. */
export async function makeRepository(directory: string, files: ReadonlyMap<string, string>): Promise<object> {
  const git = (input: string, ...words: string[]) => execa('git', ['-C', directory, ...words], { input });
  await execa('git', ['init', '--quiet', '--bare', directory]);
  const commit = (branch: string, entries: ReadonlyMap<string, string>) => {
    const lines = [`commit refs/heads/${branch}`, 'committer Bench <bench@example.com> 1700000000 +0000'];
    lines.push('data 4', 'Add\n');
    if (branch === 'large') lines.push('from refs/heads/main');
    for (const [path, text] of entries) {
      lines.push(`M 100644 inline ${path}`, `data ${Buffer.byteLength(text)}`, text);
    }
    return `${lines.join('\n')}\n`;
  };
  const small = new Map([['webhooks/one.yaml', 'secretName: HONEST\n']]);
  await git(commit('main', small) + commit('large', files), 'fast-import', '--quiet');
  return { repositories: [{ factory: 'followed', repository: directory, interval: '5s' }] };
}

/** The stage for attacks on the management port: what would go to a webhook goes to the sign-in, which takes a body too. */
export function aimAtManagement(stage: Stage): Stage {
  const url = stage.managementUrl;
  const isOfIngress = (line: string) => line === 'Host: hooks.example.com';
  return {
    ...stage,
    // Guesses are in a header, and so go where a token does.
    ingressPath: webhook =>
      `/api/v1/${webhook === 'guessed' ? 'factories/default/automation-plan' : 'session'}`,
    guessesMax: 600,
    unknownPath: '/api/v1/nothing',
    attack: given => {
      if (given.from?.length === 1 && given.requestsMax === 1) return stage.attack(given);
      const head = given.head.map(line => (isOfIngress(line) ? `Host: ${new URL(url).host}` : line));
      return stage.attack({ ...given, url, head });
    },
  };
}
