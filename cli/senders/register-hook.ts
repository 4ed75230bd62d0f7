import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import type { Backend } from '../backend/backend.ts';
import { CommandError } from '../exit-status.ts';
import { askToConfirm } from '../input/read-input-file.ts';
import { printData, printFindings, printStatus, printText } from '../output.ts';
import { renderSenderPlan } from '../render/render-sender-plan.ts';
import { awaitVerified, type PingVerification } from './await-verified.ts';

export interface RegisterOptions {
  readonly event?: readonly string[];
  readonly secret?: boolean;
  readonly yes?: boolean;
}

type Registered = ApiAnswer<ApiRoutes['registerSender']>;

interface Daemon {
  /** Why no daemon can verify a ping now; undefined if one probably can. */
  readonly problem: string | undefined;
}

/** @limit Wait for the ping of a registered hook, in ms: GitHub sends it within seconds. */
const pingMs = 30_000;
/** @limit Wait for what the provider may have sent although it could not be asked to, in ms. */
const unaskedMs = 3_000;

interface Registering {
  readonly backend: Pick<Backend, 'call' | 'showDaemon'>;
  readonly output: 'text' | 'json';
  readonly uid: string;
}

/**
 * Creates or corrects the hook of a webhook, and verifies its ping. Shows the changes, and asks unless `yes`. Fails with a
 * CommandError that says where things stand if the ping was not verified.
 */
export async function registerHook(
  { backend, output, uid }: Registering,
  { event, secret, yes = false }: RegisterOptions,
): Promise<void> {
  const params = { uid };
  const request = { events: event && [...event], setSecret: secret };
  const plan = await backend.call('planSender', { params, body: request });
  if (plan.action === 'none') {
    printData(output, { result: 'unchanged', ...plan }, () => renderSenderPlan(plan));
    return;
  }
  const daemon = await findDaemon(backend);
  if (!yes) {
    printFindings(renderSenderPlan(plan));
    if (daemon.problem !== undefined) printStatus(`The ping cannot be verified: ${daemon.problem}`);
    if (!(await askToConfirm('Register?', output)))
      throw new CommandError('nothing was changed at the provider: confirm at the prompt or use --yes');
  }
  const { fingerprint } = plan;
  const registered = await backend.call('registerSender', { params, body: { ...request, fingerprint } });
  if (output === 'text') printText(`${renderSenderPlan(registered)}${describeDone(registered)}\n`);
  const verification = await verifyPing(backend, registered, daemon);
  printData(output, { result: 'registered', ...registered, verification }, () =>
    verification.result === 'verified' ? `✓ the ping was verified: ${verification.delivery}\n` : '',
  );
  if (verification.result === 'verified') return;
  throw new CommandError(await explainUnverified(backend, registered, verification, daemon));
}

/** Whether a daemon receives deliveries: the one of the home or server, or a replica elsewhere. */
async function findDaemon(backend: Registering['backend']): Promise<Daemon> {
  const { serial, replicas } = await backend.call('showStatus');
  const { state, url } = await backend.showDaemon(serial);
  const isDown = state === 'none' || state === 'no answer';
  if (!isDown || (replicas?.alive.length ?? 0) > 0) return { problem: undefined };
  const where = url === null ? 'no daemon has run with this home' : `no daemon answers at ${url}`;
  return { problem: `${where}; start one with \`hookmill serve\`` };
}

function describeDone({ action, hook, at }: Registered): string {
  return `${action === 'create' ? 'Created' : 'Changed'} hook ${hook.id} of ${at}.`;
}

/** Waits for the ping. Without a daemon nobody can have received it. */
async function verifyPing(
  backend: Registering['backend'],
  { uid, ping }: Registered,
  { problem }: Daemon,
): Promise<PingVerification> {
  const waitMs = problem !== undefined ? 0 : ping.problem ? unaskedMs : pingMs;
  return awaitVerified(backend, { uid, after: ping.after, waitMs });
}

/** Says where things stand, why, and what to do. */
async function explainUnverified(
  backend: Registering['backend'],
  { webhook, uid, hook, ping }: Registered,
  { result, delivery, reason }: PingVerification,
  { problem }: Daemon,
): Promise<string> {
  const again = `then run \`hookmill senders register ${webhook} --secret\` to try again`;
  const begin = `hook ${hook.id} is registered, but its ping was not verified`;
  if (result === 'refused')
    return `${begin}: ${delivery} was refused (${reason}). Run \`hookmill why ${delivery}\` to see the cause, ${again}`;
  if (problem !== undefined) return `${begin}: ${problem}, ${again}`;
  if (ping.problem) return `${begin}: ${ping.problem.message} If it helps, ${again}`;
  const { findings } = await backend.call('checkSender', { params: { uid }, body: {} });
  const last = findings.find(({ code }) => code === 'last-answer');
  const seen = last ? `: ${last.message}` : '';
  return `${begin}: no delivery arrived within ${pingMs / 1_000} s${seen}. Check that the provider reaches ${hook.url}, ${again}`;
}
