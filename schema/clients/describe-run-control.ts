import type { RunControl } from '../definitions/automation-definition.ts';

/** The keys with a sentence. The others only change the sentence of one of these. */
type SaidKey = Exclude<keyof RunControl, 'concurrencyKey' | 'onFailure' | 'cancelRunning'>;

type Sentences = {
  readonly [Key in SaidKey]: (value: NonNullable<RunControl[Key]>, keys: RunControl) => string | undefined;
};

/** Says each key of an automation that controls its runs in a sentence. Backticks enclose names and paths. */
export function describeRunControl(keys: RunControl): readonly string[] {
  return (Object.keys(sentences) as SaidKey[])
    .map(key => describeKey(key, keys))
    .filter(sentence => sentence !== undefined);
}

function describeKey<Key extends SaidKey>(key: Key, keys: RunControl): string | undefined {
  const value = keys[key];
  return value === undefined ? undefined : sentences[key](value, keys);
}

/** The sentence of each key, in the order in which people read them. A key without one does not compile. */
const sentences: Sentences = {
  runner: name => `The runner ${code(name)} executes its runs.`,
  repository: name => `Each run gets a working copy of the repository ${code(name)}.`,
  requires: names =>
    `A run fails unless it leaves the ${names.length === 1 ? 'artifact' : 'artifacts'} ${names.map(code).join(', ')}.`,
  timeLimit: time => `An attempt takes at most ${time}.`,
  attempts: number => `A run has at most ${count(number, 'attempt')}.`,
  backOff: ({ first, max }) => {
    if (first === undefined) return max && `After a failed attempt, a run waits at most ${max}.`;
    const longest = max === undefined ? '' : `, at most ${max}`;
    return `After the first failed attempt, a run waits ${first}, then twice as long each time${longest}.`;
  },
  concurrency: (number, { concurrencyKey }) => {
    const each = concurrencyKey === undefined ? '' : ` for each value of ${code(concurrencyKey)}`;
    return `At most ${count(number, 'run')} at a time${each}; the others wait.`;
  },
  order: (path, { onFailure }) => {
    const then =
      onFailure === 'hold' ? 'the others wait until it succeeds or is dismissed' : 'the next one starts';
    return `Runs with the same ${code(path)} start one after the other; when one fails, ${then}.`;
  },
  onlyLatest: (isSo, { cancelRunning }) =>
    isSo
      ? `A run cancels the queued ones${cancelRunning ? ', and the running one,' : ''} before it in this order.`
      : undefined,
  debounce: ({ for: quiet, key, atMost }) => {
    const same = key === undefined ? '' : ` with the same ${code(key)}`;
    const latest = atMost ?? 'ten times that';
    return `One run for a burst of deliveries${same}: it waits ${quiet} for further ones, at most ${latest} in all.`;
  },
  notify: ends => `The receivers of alerts are told of each run that has ${[...new Set(ends)].join(' or ')}.`,
  runsPerHour: number => `At most ${count(number, 'run')} may start within an hour; further ones fail.`,
};

function count(number: number, thing: string): string {
  return number === 1 ? `1 ${thing}` : `${number} ${thing}s`;
}

/** Encloses a name or a path in backticks. A backtick in a path is written as its escape, which means the same. */
function code(text: string): string {
  return `\`${text.replaceAll('`', '\\u0060')}\``;
}
