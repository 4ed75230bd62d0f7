import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The runs that a delivery must start. */
export const runsOfWork = { none: [], quick: ['quick'], slow: ['quick', 'slow'] } as const;
export type Work = keyof typeof runsOfWork;

/** The answer that a sender got. */
export interface Answer {
  readonly identity: string;
  readonly replica: string;
  /** Undefined: no answer. */
  readonly status?: number;
  readonly deliveryId?: string;
}

/** One execution of a run, by the clock of this machine in ms. */
export interface Execution {
  readonly run: string;
  readonly replica: string;
  readonly startMs: number;
  /** Undefined: it was killed. */
  readonly endMs?: number;
}

export interface Notes {
  readonly answers: readonly Answer[];
  /** Events that must never occur. */
  readonly incidents: readonly string[];
  readonly executions: readonly Execution[];
}

/** Collects what happens. Commands of runs write what they do to a file, because they outlive the daemon that starts them. */
export function openNotes(directory: string) {
  const executions = join(directory, 'executions.txt');
  const answers: Answer[] = [];
  const incidents: string[] = [];
  return {
    addAnswer: (answer: Answer) => void answers.push(answer),
    addIncident: (incident: string) => void incidents.push(incident),
    /** The runner's command: notes its start and its end, and takes long enough to be interrupted. */
    command: ['sh', '-c', command, 'run', executions],
    read: (): Notes => ({ answers, incidents, executions: readExecutions(executions) }),
  };
}

const command = `
file=$1
note() { echo "$1 $HOOKMILL_RUN_ID $REPLICA $$ $(date +%s%3N)" >> "$file"; }
note start
case $HOOKMILL_AUTOMATION in slow) sleep 12;; *) sleep 0.1;; esac
note end`;

function readExecutions(file: string): Execution[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const open = new Map<string, Execution>();
  const executions: Execution[] = [];
  for (const line of lines) {
    const [kind, run = '', replica = '', pid, ms] = line.split(' ');
    const key = `${run} ${replica} ${pid}`;
    if (kind === 'start') open.set(key, { run, replica, startMs: Number(ms) });
    const started = open.get(key);
    if (kind !== 'end' || !started) continue;
    open.delete(key);
    executions.push({ ...started, endMs: Number(ms) });
  }
  return [...executions, ...open.values()];
}
