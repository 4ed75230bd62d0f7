import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { escapedKeyDefect, hasEscapedKeyDefect } from '../../json/parse-json-text.ts';
import { fine, problem, type Symptom, warning } from './symptom.ts';

/** @limit Free space below which `hookmill doctor` warns, in bytes (1 GiB): a million deliveries of 1 KiB. */
const freeBytesLow = 1024 ** 3;
/** @limit Free space below which `hookmill doctor` reports a problem, in bytes (64 MiB): deliveries are refused soon. */
const freeBytesMin = 64 * 1024 ** 2;
/** @limit Time in which systemd must say whether the clock is synchronised, in ms. */
const clockAnswerMs = 3_000;

/** Checks the machine that this command runs on: Node.js, the clock, and the disk of the home. */
export async function examineMachine(home: string): Promise<Symptom[]> {
  return [...examineNode(), await examineClock(), await examineDisk(home)];
}

/** The defect needs no remedy: hookmill reads escaped keys itself. But it is a reason to look at the programs of runs. */
function examineNode(): Symptom[] {
  const version = fine('node', `Node.js ${process.versions.node}`);
  if (!hasEscapedKeyDefect()) return [version];
  return [version, fine('escaped keys', escapedKeyDefect)];
}

/** Checks whether the clock is synchronised: if it is wrong by minutes, signatures with a time are refused. */
async function examineClock(): Promise<Symptom> {
  const show = ['show', '--property=NTPSynchronized', '--value'];
  const answer = await promisify(execFile)('timedatectl', show, { timeout: clockAnswerMs }).catch(
    () => undefined,
  );
  const now = new Date().toISOString();
  const synchronised = answer?.stdout.trim();
  if (synchronised === 'yes') return fine('clock', `${now}, synchronised`);
  if (synchronised !== 'no')
    return fine('clock', `${now}; nothing on this machine says whether it is synchronised`);
  const remedy = 'synchronise it, for example with `timedatectl set-ntp true`: signatures have a time';
  return warning('clock', `${now}, not synchronised`, remedy);
}

async function examineDisk(home: string): Promise<Symptom> {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${home}`;
  const remedy = "make space, or keep fewer deliveries: `retention` in the daemon's configuration file";
  if (free < freeBytesMin) return problem('disk', text, remedy);
  return free < freeBytesLow ? warning('disk', text, remedy) : fine('disk', text);
}
