import { expect, test } from 'vitest';
import { z } from 'zod';
import { tools } from '../../cli/mcp/tools.ts';
import type { ApiRoute } from '../../schema/api/route.ts';
import { apiRoutes } from '../../schema/api/routes.ts';
import { listOwnTexts } from '../../schema/views/outside.ts';
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
  // Every address that a definition or a provider names.
  [
    'isPublicAddress',
    'senders/public-address.ts',
    ['operations/senders/register-sender.ts', 'senders/guarded-request.ts'],
  ],
];

/** Each file that makes requests, with who chose the address. */
const requesters: Readonly<Record<string, string>> = {
  'cli/backend/daemon-health.ts': 'the daemon, in its home',
  'cli/backend/server-client.ts': 'the user, with --server',
  'cli/ci-token.ts': 'the CI host',
  'cli/commands/send.ts': 'the user, with --to, or an OwnBaseUrl',
  'cli/doctor/examine-daemon.ts': 'an OwnBaseUrl',
  'cli/listen/forward-deliveries.ts': 'the user, with --forward-to',
  'cli/scaffold/ci.ts': 'the user, in a job that it writes',
  'daemon/management/sign-in/provider.ts': 'the settings',
  'daemon/receivers/post-to-receiver.ts': 'the settings, or a team secret that they name',
  'operations/sending/post-delivery.ts': 'the daemon: where its ingress listens',
  'senders/guarded-request.ts': 'a definition: only public addresses, unless the settings list it',
  'sources/repository/git/git-mirror.ts': 'the settings, which list the repositories',
};

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

test('no other file makes a request to an address', () => {
  const request = /\bfetch\(|\bhttps?\)?\.request\(|\{ request \} =/;
  const found = pathsOf(({ code, imports }) => request.test(code) || imports.includes('openid-client'));
  expect(found.sort()).toEqual(Object.keys(requesters));
});

/** Texts in the answers of tools that hookmill, the operator or a committer wrote, by key. A new key needs a decision. */
const ownTexts =
  `after againOf against allowed appliedAt askedAt at atMost atProvider audience author automation before body branch
  by byName cloudevents code committedAt concurrencyKey content createdAt credentialSecret deliveryId deliveryIdField
  deliveryIdHeader directory duplicateOf endedAt eventHeaders factory failingSince field file finishedAt first for
  from header heldBy host id idHeader issuer keepHeaders kept key keyValueSeparator keys kind label lastAcceptedAt
  lastAt max name next nextAttemptAt notRestored on order organization page path payloadField prefix previousUntil
  prompt provider remedy renamedFrom renamedTo repository requires revision run runner sameBody scheme secretLocation
  secretName separator signatureScheme silenced since startedAt stripPrefix subject suspendedAt timeLimit tokenHeader
  tokenPrefix tokenUser uid until url waitsUntil webhook yaml`.split(/\s+/);
/** Places of keys that elsewhere have text from outside. */
const ownPlaces: Readonly<Record<string, readonly string[]>> = {
  explainWhy: ['.unlogged.detail'],
  showStatus: [
    '.reconcile.lastFailure.reason',
    '.reconcile.lastFailure.hint',
    '.reconcile.lastFailure.diagnostics.message',
    '.reconcile.lastFailure.diagnostics.hint',
    '.reconcile.recent.reason',
    '.problem.message',
  ],
  listSchemes: ['.schemes.summary.text'],
  plan: ['.changes.confirmation.message', '.diagnostics.message', '.diagnostics.hint'],
};

test.for(Object.entries(tools))(
  'each text of the tool %s is marked as from outside, or known as our own',
  ([, tool]) => {
    const { operation } = tool;
    const { answer }: ApiRoute = apiRoutes[operation];
    const unknown = listOwnTexts(answer.shape ?? z.string()).filter(
      path => !ownTexts.includes(path.split('.').at(-1) ?? ''),
    );
    expect(unknown).toEqual(ownPlaces[operation] ?? []);
  },
);
