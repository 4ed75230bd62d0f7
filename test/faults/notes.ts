import { appendFileSync, existsSync, readFileSync } from 'node:fs';
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

/** A round, or something else that may not happen. */
export interface Incident {
  readonly what: string;
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
  readonly incidents: readonly Incident[];
  readonly executions: readonly Execution[];
}

const files = { answers: 'answers.ndjson', incidents: 'incidents.ndjson', executions: 'executions.txt' };

/** Writes down what happens, so that the checker can read it even if the runner dies. */
export function openNotes(directory: string) {
  const add = (file: string, note: object) =>
    appendFileSync(join(directory, file), `${JSON.stringify(note)}\n`);
  return {
    addAnswer: (answer: Answer) => add(files.answers, answer),
    addIncident: (incident: Incident) => add(files.incidents, incident),
    /** The runner's command: notes its start and its end, and takes long enough to be interrupted. */
    command: ['sh', '-c', command, 'run', join(directory, files.executions)],
  };
}

const command = `
file=$1
note() { echo "$1 $HOOKMILL_RUN_ID $REPLICA $$ $(date +%s%3N)" >> "$file"; }
note start
case $HOOKMILL_AUTOMATION in slow) sleep 12;; *) sleep 0.1;; esac
note end`;

export function readNotes(directory: string): Notes {
  return {
    answers: readLines(directory, files.answers).map(line => JSON.parse(line)),
    incidents: readLines(directory, files.incidents).map(line => JSON.parse(line)),
    executions: readExecutions(readLines(directory, files.executions)),
  };
}

function readLines(directory: string, file: string): string[] {
  const path = join(directory, file);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').filter(Boolean) : [];
}

function readExecutions(lines: readonly string[]): Execution[] {
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
