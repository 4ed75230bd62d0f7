import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Symptom } from './symptom.ts';

/** @limit Free space below which `hookmill doctor` warns, in bytes (1 GiB): a million deliveries of 1 KiB. */
const freeBytesLow = 1024 ** 3;
/** @limit Free space below which `hookmill doctor` finds a wrong, in bytes (64 MiB): deliveries are refused soon. */
const freeBytesMin = 64 * 1024 ** 2;
/** @limit Time in which systemd must say whether the clock is synchronised, in ms. */
const clockAnswerMs = 3_000;

/** Looks at the machine that this command runs on: Node.js, the clock, and the disk of the home. */
export async function examineMachine(home: string): Promise<Symptom[]> {
  return [
    { subject: 'node', state: 'ok', text: `Node.js ${process.versions.node}` },
    await examineClock(),
    await examineDisk(home),
  ];
}

/** Signatures with a time are refused if the clock is wrong by minutes. */
async function examineClock(): Promise<Symptom> {
  const show = ['show', '--property=NTPSynchronized', '--value'];
  const answer = await promisify(execFile)('timedatectl', show, { timeout: clockAnswerMs }).catch(
    () => undefined,
  );
  const now = new Date().toISOString();
  if (answer?.stdout.trim() === 'yes') return { subject: 'clock', state: 'ok', text: `${now}, synchronised` };
  if (answer?.stdout.trim() !== 'no')
    return {
      subject: 'clock',
      state: 'ok',
      text: `${now}; nothing on this machine says whether it is synchronised`,
    };
  const remedy = 'synchronise it, for example with `timedatectl set-ntp true`: signatures have a time';
  return { subject: 'clock', state: 'warning', text: `${now}, not synchronised`, remedy };
}

async function examineDisk(home: string): Promise<Symptom> {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${home}`;
  const remedy = 'make space, or keep fewer deliveries: `retention` in the file of the daemon';
  if (free < freeBytesMin) return { subject: 'disk', state: 'problem', text, remedy };
  return free < freeBytesLow
    ? { subject: 'disk', state: 'warning', text, remedy }
    : { subject: 'disk', state: 'ok', text };
}
