import { expect, test } from 'vitest';
import { readSources, type SourceFile } from '../support/source-files.ts';

const folders = ['schema', 'store', 'sources', 'senders', 'operations', 'daemon', 'cli'];
const sources = folders.flatMap(readSources);

/** Each gate: the name of its only way through, its file, and the files that use it. */
const gates: readonly (readonly [name: string, home: string, users: readonly string[]])[] = [
  // The operator's settings, the environment, and the address at which the daemon listens.
  [
    'toOwnBaseUrl',
    'schema/ingress-url.ts',
    ['cli/context.ts', 'daemon/daemon.ts', 'daemon/settings.ts', 'daemon/start-ports.ts'],
  ],
  // Opens the record of an attempt with the masking of all its secrets.
  [
    'RunRecord',
    'daemon/runs/run-record.ts',
    [
      'daemon/runs/receiver-reports.ts',
      'daemon/runs/runners/command-result.ts',
      'daemon/runs/runners/http.ts',
      'daemon/runs/runners/program.ts',
    ],
  ],
  [
    'maskSecrets',
    'daemon/runs/masking.ts',
    ['daemon/runs/receiver-reports.ts', 'daemon/runs/runners/http.ts', 'daemon/runs/runners/program.ts'],
  ],
];

/** Types whose values pass a gate, each with the only file that may assert it. */
const passed: Readonly<Record<string, string>> = {
  OwnBaseUrl: 'schema/ingress-url.ts',
};

function pathsOf(isFound: (source: SourceFile) => boolean): string[] {
  return sources.filter(isFound).map(({ path }) => path);
}

test.for(gates)('%s, of %s, is used only where a reviewer has seen it', ([name, home, users]) => {
  expect(pathsOf(({ names }) => names.has(name)).sort()).toEqual([...users, home].sort());
});

test.for(Object.entries(passed))('no value is said to be of type %s but in %s', ([type, home]) => {
  expect(pathsOf(({ casts }) => casts.includes(type))).toEqual([home]);
});

test.for(['recordReport', 'appendOutput', 'keepArtifacts'])(
  'in the daemon, %s is called only by the record of a run, which masks',
  name => {
    const users = pathsOf(({ path, names }) => path.startsWith('daemon/') && names.has(name));
    expect(users).toEqual(['daemon/runs/run-record.ts']);
  },
);
