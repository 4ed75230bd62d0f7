import { isDeepStrictEqual } from 'node:util';
import type { ApiAnswer } from '../../schema/api/route.ts';
import type { ApiRoutes } from '../../schema/api/routes.ts';
import type { Backend } from '../backend/backend.ts';
import { isAmiss } from '../backend/daemon-health.ts';
import { CommandError } from '../exit-status.ts';
import { askToConfirm } from '../input/read-input.ts';
import { printData, printFindings, printStatus, printText } from '../output.ts';
import { renderSenderPlan } from '../render/render-webhook.ts';
import { awaitVerified, type PingVerification } from './await-verified.ts';

export interface RegisterOptions {
  readonly event?: readonly string[];
  readonly secret?: boolean;
  readonly rotate?: boolean;
  readonly yes?: boolean;
  readonly takeOver?: boolean;
}

type SenderPlan = ApiAnswer<ApiRoutes['planSender']>;
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
 * Creates or corrects the hook of a webhook, and verifies its ping. Shows the changes, and asks unless `yes`. With `rotate`,
 * gives the webhook and the hook a new secret, and ends the overlap once the ping was verified with it. Fails with a
 * CommandError that says where things stand if the ping was not verified.
 */
export async function registerHook(
  registering: Registering,
  { event, secret, rotate = false, yes = false, takeOver = false }: RegisterOptions,
): Promise<void> {
  const { backend, output, uid } = registering;
  const request = { events: event && [...event], setSecret: secret };
  const plan = await backend.call('planSender', { params: { uid }, body: { ...request, rotate } });
  if (plan.action === 'none') {
    printData(output, { result: 'unchanged', ...plan }, () => renderSenderPlan(plan));
    return;
  }
  const daemon = await findDaemon(backend);
  if (rotate && daemon.problem !== undefined)
    throw new CommandError(`nothing was changed: ${daemon.problem}, so that it can verify the new secret`);
  if (!yes) await confirm(plan, { output, rotate, daemon });
  const rotation = rotate ? await beginRotation(registering, request.events, plan) : undefined;
  const { fingerprint } = rotation?.plan ?? plan;
  // Whoever was asked saw what it sends to.
  const body = { ...request, fingerprint, takeOver: takeOver || !yes };
  const registered = await backend.call('registerSender', { params: { uid }, body });
  if (output === 'text') printText(`${renderSenderPlan(registered, rotate)}${describeDone(registered)}\n`);
  const verification = await verifyPing(backend, registered, daemon);
  const isVerified = verification.result === 'verified';
  if (rotation && isVerified) await endRotation(registering);
  const rotated = rotation && { secretName: rotation.secretName, until: isVerified ? null : rotation.until };
  const data = { result: 'registered', ...registered, verification, ...(rotated && { rotation: rotated }) };
  printData(output, data, () => renderVerified(verification, rotated));
  if (isVerified) return;
  const explained = await explainUnverified(backend, registered, verification, daemon);
  throw new CommandError(rotation ? `${explained}. ${explainRotation(registered, rotation)}` : explained);
}

async function confirm(
  plan: SenderPlan,
  { output, rotate, daemon }: { output: 'text' | 'json'; rotate: boolean; daemon: Daemon },
): Promise<void> {
  printFindings(renderSenderPlan(plan, rotate));
  if (plan.takesOver !== null)
    printStatus(`The hook sends to ${plan.takesOver} now, which is not this webhook: it would no longer.`);
  if (daemon.problem !== undefined) printStatus(`The ping cannot be verified: ${daemon.problem}`);
  if (await askToConfirm('Register?', output)) return;
  throw new CommandError('nothing was changed at the provider: confirm at the prompt or use --yes');
}

interface Rotation {
  readonly secretName: string;
  /** When the value before ends. */
  readonly until: string;
  /** The plan with the new value. */
  readonly plan: SenderPlan;
}

/** Sets the new value, waits until the daemon verifies with it, and plans with it what was shown without it. */
async function beginRotation(
  { backend, uid }: Registering,
  events: string[] | undefined,
  shown: SenderPlan,
): Promise<Rotation> {
  const begun = await backend.call('beginSecretRotation', { params: { uid }, body: {} });
  const { webhook, secretName, serial, until, isContinued } = begun;
  const next = `if this command does not end, run \`hookmill senders register ${webhook} --rotate\` again`;
  const what = isContinued ? 'has had a new value' : 'has a new value';
  printStatus(`${secretName} ${what}, and the one before stays valid until ${until}; ${next}.`);
  const daemon = await backend.showDaemon(serial);
  if (isAmiss(daemon, serial))
    throw new CommandError(`the daemon at ${daemon.url} does not serve the new value of ${secretName} yet`);
  const plan = await backend.call('planSender', { params: { uid }, body: { events, setSecret: true } });
  if (isDeepStrictEqual(plan.changes, shown.changes)) return { secretName, until, plan };
  throw new CommandError(`the hook of ${plan.at} has changed since its changes were shown`);
}

/** Returns when the daemon no longer takes the value before. */
async function endRotation({ backend, uid }: Registering): Promise<void> {
  const { serial } = await backend.call('endSecretRotation', { params: { uid }, body: {} });
  await backend.showDaemon(serial);
}

function renderVerified(
  { result, delivery }: PingVerification,
  rotation: Pick<Rotation, 'secretName'> | undefined,
): string {
  if (result !== 'verified') return '';
  const ended = rotation ? `Ended the overlap of ${rotation.secretName}: only the new value is valid.\n` : '';
  return `✓ the ping was verified: ${delivery}\n${ended}`;
}

/** Says what holds until somebody goes on or back. */
function explainRotation({ webhook }: Registered, { secretName, until }: Rotation): string {
  const on = `To go on, run \`hookmill senders register ${webhook} --rotate\` again`;
  const back = `to go back, set the value before with \`hookmill secrets set ${secretName}\`, apply, and register again`;
  return `Both values of ${secretName} are valid until ${until}. ${on}; ${back}`;
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
