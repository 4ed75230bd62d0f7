import type { Mutant } from './mutant.ts';

/** Faults that break what is promised against committers and runs, for secrets and for what is installed, and in README.md. */
export const mutantsAgainstRuns: readonly Mutant[] = [
  {
    promise: 'A repository runs nothing.',
    killedBy:
      "test/system/sources/repository/git-transports.test.ts: runs no hook, not even the operator's own",
    file: 'sources/repository/git/git-mirror.ts',
    text: '\thooksPath = /dev/null',
    replacement: '',
  },
  {
    promise: 'Definitions are bounded',
    killedBy:
      'test/system/sources/factory-size.test.ts: parses no file of a factory that has too many, and says how many it may have',
    file: 'sources/oversize.ts',
    text: "  if (files.length > definitionFilesMax) return describeCrowd('definitions', files.length);",
    replacement: '',
  },
  {
    promise: 'A checkout does not bring its own home or server.',
    killedBy:
      'test/system/cli/foreign-home.test.ts: that came with the repository, unless it was named; one that git ignores is not',
    file: 'cli/context.ts',
    text: '  if (options.home === undefined) await requireOwnHome(home);',
    replacement: '',
  },
  {
    promise: 'A checkout does not bring its own home or server.',
    killedBy:
      'test/system/cli/foreign-home.test.ts: apply does not replace a factory of another directory that only hookmill.yaml names',
    file: 'cli/backend/home.ts',
    text: "  if (!isFactoryFromFile || source?.kind !== 'directory' || source.directory === directory) return;",
    replacement: "  if (source?.kind !== 'directory' || source.directory !== directory) return;",
  },
  {
    promise: 'A checkout does not bring its own home or server.',
    killedBy:
      'test/system/cli/commands/senders-register.test.ts: a base URL that only a checkout names is printed, but no hook leads there, and no check compares with it',
    file: 'operations/senders/register-sender.ts',
    text: 'deps.ownBaseUrl',
    replacement: "('baseUrl' in deps ? (deps.baseUrl as typeof deps.ownBaseUrl) : deps.ownBaseUrl)",
  },
  {
    promise: 'CI runs nothing of a pull request.',
    killedBy: 'test/system/deploy/github-action.test.ts: is left out of pull requests from forks',
    file: 'deploy/ci/github/action.yml',
    text: '        github.event.pull_request.head.repo.full_name == github.repository)',
    replacement: "        github.event.pull_request.head.repo.full_name != '')",
  },
  {
    promise: 'A mistake on the branch changes nothing.',
    killedBy:
      'test/system/operations/branch/reconcile.test.ts: refuses a branch that was forced to another history, until it is allowed',
    file: 'operations/branch/follow-branch.ts',
    text: "    if (isRewound && !options.allowRewind) return makeFailure({ reason: 'rewound', ...rewound }, tip);",
    replacement: '',
  },
  {
    promise: 'A payload reaches a command only as a file.',
    killedBy:
      'test/system/daemon/runs/runs.test.ts: a command gets the payload only as a file: no argument, variable or message contains any of it',
    file: 'daemon/runs/runners/command.ts',
    text: '      ...nameFiles(attempt),\n      ...variables,',
    replacement:
      '      ...nameFiles(attempt),\n      HOOKMILL_PAYLOAD: Buffer.from(attempt.payload).toString(),\n      ...variables,',
  },
  {
    promise: 'A command does not find the key or the URL of a database in an environment',
    killedBy: 'test/system/daemon/runs/runs.test.ts: a command finds our secrets in no environment',
    file: 'cli/take-secrets.ts',
    text: "      if (process.platform === 'linux') eraseInitialVariable(variable);",
    replacement: '',
  },
  {
    promise: 'The password of a database is in no argument and in no error.',
    killedBy: 'test/system/cli/commands/store.test.ts: %s is refused, and not repeated',
    file: 'cli/context.ts',
    text: "  if (command.getOptionValueSourceWithGlobals('store') === 'cli') requireNoPassword('--store', store);\n  else parseUrl('HOOKMILL_STORE', store);",
    replacement: "  parseUrl('HOOKMILL_STORE', store);",
  },
  {
    promise: 'What a command leaves in its directory is not trusted.',
    killedBy:
      'test/system/store/home/run-files.test.ts: %s among the artifacts, or in their place, is not kept',
    file: 'store/home/regular-file.ts',
    text: '  const handle = await openHandle(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);',
    replacement: '  const handle = await openHandle(path, O_RDONLY | O_NONBLOCK).catch(() => undefined);',
  },
  {
    promise: 'A command that runs as [another user](docs/runs.md#another-user) gets nothing but its run',
    killedBy:
      'test/long/daemon/runs/hostile-command.test.ts: commands that run as another user end with a daemon that is killed',
    file: 'daemon/runs/runners/command-user.ts',
    text: '  const prefix = [...(isApart ? apart : []), ...drop];',
    replacement: '  const prefix = drop;',
  },
  {
    promise: 'Runners with different users keep to themselves.',
    killedBy:
      'test/system/daemon/runs/named-runners.test.ts: two runners with different users see neither files, variables nor processes of each other',
    file: 'daemon/runs/runners/command-user.ts',
    text: "  const isApart = (await tryOut([...apart, ...drop, 'true'], PATH)) === undefined;",
    replacement: '  const isApart = false;',
  },
  {
    promise: 'A second command gets the artifacts of a run, and nothing that a sender wrote.',
    killedBy:
      'test/system/daemon/runs/afterwards.test.ts: what needs approval waits for it, says so, and is done again differently',
    file: 'daemon/runs/runners/command-result.ts',
    text: "  const approvalUntilMs = approval === 'required' ? nowMs + Math.ceil(approvalDays * dayMs) : undefined;",
    replacement:
      '  const approvalUntilMs = approval === undefined ? nowMs + Math.ceil(approvalDays * dayMs) : undefined;',
  },
  {
    promise: 'An attempt finds nothing that another one left',
    killedBy:
      'test/system/daemon/runs/runners/command.test.ts: begins each attempt in an empty directory, with an empty home of its own',
    file: 'daemon/runs/run-attempt.ts',
    text: '  if (!deps.runner.keep) await deps.runFiles.discard(run.id);',
    replacement: '',
  },
  {
    promise: 'A run takes nothing of the home with it,',
    killedBy:
      'test/long/daemon/runs/hostile-command.test.ts: no file of the home becomes an artifact while another run of the user swaps the directory with a link',
    file: 'daemon/runs/runners/command-user.ts',
    text: "    uid: Number(uid),\n    isApart,\n    prefix,\n    variables: { HOME: home, USER: name, LOGNAME: name },\n    give: async directory => {\n      await execa('chown', ['-R', '-P', `${uid}:${gid}`, '--', directory]);\n    },\n    lend: async directory => {\n      await lchown(directory, Number(uid), Number(gid));\n      return () => takeBack(directory);",
    replacement:
      "    uid: 0,\n    isApart,\n    prefix,\n    variables: { HOME: home, USER: name, LOGNAME: name },\n    give: async directory => {\n      await execa('chown', ['-R', '-P', `${uid}:${gid}`, '--', directory]);\n    },\n    lend: async directory => {\n      await lchown(directory, Number(uid), Number(gid));\n      return async () => undefined;",
  },
  {
    promise: 'No run that ends the daemon does so for ever.',
    killedBy:
      'test/unit/store/run-life.test.ts: a run fails only if it ends two daemons that execute nothing else',
    file: 'store/delivery-log/run-life.ts',
    text: 'const fails = interrupted.alone >= interruptionsAloneMax && !run.cancel;',
    replacement: 'const fails = false;',
  },
  {
    promise: 'The URL of Slack and the key of PagerDuty are in no log line and in no message that is stored.',
    killedBy:
      'test/system/daemon/alerts.test.ts: Slack and PagerDuty are told in their own formats, and the URL of Slack stays a secret',
    file: 'daemon/alerts/send-messages.ts',
    text: "  { openSecret, nowMs, signal }: SendingDeps,\n): Promise<{ readonly posted: Posted; readonly status: number | null }> {\n  const fail = (reason: string) => ({ posted: { kind: 'retry', reason } as const, status: null });\n  const secret = await openSecret(receiver.secret);\n  if (secret === undefined) return fail(`the team secret ${receiver.secret} has no value`);\n  const request = renderRequest(message, receiver, secret, nowMs());",
    replacement:
      "  { openSecret, nowMs, signal, log }: SendingDeps,\n): Promise<{ readonly posted: Posted; readonly status: number | null }> {\n  const fail = (reason: string) => ({ posted: { kind: 'retry', reason } as const, status: null });\n  const secret = await openSecret(receiver.secret);\n  if (secret === undefined) return fail(`the team secret ${receiver.secret} has no value`);\n  const request = renderRequest(message, receiver, secret, nowMs());\n  log.info({ url: request.url }, 'sending an alert');",
  },
  {
    promise: 'An alert about runs is sent, whatever stops the daemon.',
    killedBy:
      'test/system/daemon/alert-faults.test.ts: a failure of runs is forgotten only when its alert is stored',
    file: 'daemon/alerts/start-alerts.ts',
    text: '      const failed = await store.deliveries.listFailedAutomations(automationsMax);',
    replacement:
      '      const failed = await store.deliveries.listFailedAutomations(automationsMax);\n      if (failed.length > 0) await deliveryLog.forgetFailures(failed.map(({ failure }) => failure));',
  },
  {
    promise: 'A payload stays data in the request to an HTTP receiver.',
    killedBy:
      'test/unit/daemon/runs/runners/http-template.test.ts: a value takes the place of a whole text, and what it contains stays data',
    file: 'daemon/runs/runners/http-template.ts',
    text: '      if (text !== undefined) return [text];',
    replacement: "      if (text !== undefined) return [text.replaceAll('\\\\\"', '\"')];",
  },
  {
    promise: 'A run shows no secret that its command or receiver got,',
    killedBy:
      'test/system/daemon/runs/runners/http-request.test.ts: keeps no secret of an answer that repeats it in pieces',
    file: 'daemon/runs/masking.ts',
    text: '  let end = text.length - Math.max(0, ...secrets.map(secret => countBegun(text, secret)));',
    replacement: '  let end = text.length;',
  },
  {
    promise: 'A payload that names a commit chooses nothing else.',
    killedBy:
      'test/system/daemon/runs/runners/workspace.test.ts: the payload’s %j is no commit and no branch, so git is not started',
    file: 'sources/repository/working-copy.ts',
    text: '  return isBranchName(branch) ? { branch } : undefined;',
    replacement: '  return { branch };',
  },
  {
    promise: 'A payload that names a commit chooses nothing else.',
    killedBy:
      'test/system/daemon/runs/runners/workspace.test.ts: nothing in the repository runs, and nothing of the operator’s configuration',
    file: 'daemon/runs/runners/workspace.ts',
    text: `  { PATH }: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const environment = { PATH, GIT`,
    replacement: `  ambient: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const environment = { ...ambient, GIT`,
  },
  {
    promise: 'Only the operator says where a secret is kept,',
    killedBy:
      'test/system/cli/commands/secret-references.test.ts: is nothing that somebody without the key can make of a value',
    file: 'store/documents/team-secrets.ts',
    text: "  return { use: isReference ? 'secret-reference' : 'team-secret', name };",
    replacement: "  return { use: 'team-secret', name };",
  },
  {
    promise: 'No answer, log line or file contains a secret',
    killedBy:
      'test/system/daemon/secrets-canary.test.ts: secrets, presented credentials and expected signatures stand in no answer, log line or file',
    file: 'daemon/authentication/authenticator.ts',
    text: '  if (!previous) return token => (timingSafeEqual(digest(token), current) ? rightToken : wrongToken);',
    replacement:
      '  if (!previous)\n    return token => (timingSafeEqual(digest(token), current) ? rightToken : `${wrongToken}: ${token}`);',
  },
  {
    promise: 'Traces contain no payload, header, credential or UID',
    killedBy:
      'test/system/daemon/observability/traces.test.ts: no span contains a payload, a credential, a header, a path or a UID',
    file: 'daemon/observability/traces.ts',
    text: "      'http.route': route,",
    replacement: "      'http.route': request.url,",
  },
  {
    promise: 'Event headers contain no credential and no signature',
    killedBy: 'test/unit/schema/kept-headers.test.ts: keepHeaders refuses %s',
    file: 'schema/definitions/webhook-definition.ts',
    text: '    else if (isCredentialHeader(name)) {\n      addMistake(context, [], describeCredential(name), credentialMistake);',
    replacement:
      "    else if (name === '') {\n      addMistake(context, [], describeCredential(name), credentialMistake);",
  },
  {
    promise: 'Every package that is installed from the lock file has its integrity.',
    killedBy:
      'test/unit/architecture.test.ts: package-lock.json has the integrity of each package, and no address to get it from',
    file: 'package-lock.json',
    text: '  "packages": {\n    "": {',
    replacement:
      '  "packages": {\n    "node_modules/planted": { "version": "1.0.0", "dev": true },\n    "": {',
  },
  {
    promise: 'The kits give the key as a file, and no other container or variable has it.',
    killedBy:
      'test/system/deploy/compose.test.ts: the daemons of the example get the key as a file that git ignores, not as a variable',
    file: 'deploy/compose/compose.yaml',
    text: '      HOOKMILL_KEY_FILE: /run/secrets/key',
    replacement: '      HOOKMILL_KEY: $HOOKMILL_KEY',
  },
  {
    promise: 'A `202` means that the delivery is on disk',
    killedBy:
      'test/system/store/embedded/delivery-log/durability.test.ts: syncs the write-ahead log before a delivery is reported recorded',
    file: 'store/delivery-log/thread/group-commit.ts',
    text: '    this.#inFlight.set(id, batch);\n    if',
    replacement:
      "    this.#inFlight.set(id, batch);\n    for (const one of batch.deliveries) if (one.kind === 'accepted') one.resolve({ id: one.delivery.id });\n    if",
  },
  {
    promise: 'A delivery is accepted once as long as it is kept',
    killedBy:
      'test/system/daemon/ingress/receive-delivery.test.ts: answers 202 with the delivery id, and the same id to the same body again',
    file: 'daemon/ingress/record-delivery.ts',
    text: "    return { result: 'duplicate', webhook, deliveryId: duplicateOf };",
    replacement: "    return { result: 'duplicate', webhook, deliveryId: id };",
  },
  {
    promise: 'A run is executed at least once',
    killedBy:
      'test/system/daemon/runs/run-recovery.test.ts: repeats the run of a killed daemon at once, after it has ended what that left',
    file: 'store/delivery-log/run-life.ts',
    text: "state: fails ? 'failed' : 'queued', error",
    replacement: "state: 'failed', error",
  },
  {
    promise: 'An apply takes effect completely or not at all',
    killedBy:
      'test/system/store/home/durable-file.test.ts: %s syncs the content before the file has it, and the directory after',
    file: 'store/home/durable-file.ts',
    text: '    await handle.writeFile(data);\n    await handle.sync();',
    replacement: '    await handle.writeFile(data);',
  },
  {
    promise: 'An apply takes effect completely or not at all',
    killedBy:
      'test/system/store/home/durable-file.test.ts: apply syncs the applied state before it takes the place of the former one, and the directory after',
    file: 'store/home/durable-file.ts',
    text: '    throw error;\n  }\n  await syncDirectory(dirname(file));',
    replacement: '    throw error;\n  }',
  },
  {
    promise: 'An apply takes effect completely or not at all',
    killedBy:
      'test/system/store/embedded/files/file-documents.test.ts: does not write over a change by a writer that ignored the lock',
    file: 'store/embedded/files/file-documents.ts',
    text: '        if ((await readFileVersion(adapter.file)) !== version) throw movedError(adapter.file);',
    replacement: '',
  },
  {
    promise: 'An apply takes effect completely or not at all',
    killedBy:
      'test/system/store/embedded/files/file-documents.test.ts: reads a file again while it is so young that it may change and keep its version',
    file: 'store/embedded/files/file-documents.ts',
    text: '    this.#isKnown = read.isSettled;',
    replacement: '    this.#isKnown = true;',
  },
  {
    promise: 'An apply takes effect completely or not at all',
    killedBy:
      'test/system/store/embedded/files/watch-home.test.ts: names the factory whose state was added, replaced, edited or removed',
    file: 'store/embedded/files/watch-home.ts',
    text: "  watcher.on('all', (_, path) => onChange(findFactory(path)));",
    replacement: "  watcher.on('add', path => onChange(findFactory(path)));",
  },
  {
    promise: 'An invalid file, request or payload gets a clear error and changes nothing.',
    killedBy:
      'test/system/cli/commands/definitions/apply.test.ts: applies none of 21 webhooks, and keeps the 20 that are applied',
    file: 'sources/cross-file-diagnostics.ts',
    text: "  if (first === undefined) return [];\n  return [\n    {\n      code: 'webhook/too-many',",
    replacement: "  if (first !== '') return [];\n  return [\n    {\n      code: 'webhook/too-many',",
  },
  {
    promise: 'An invalid file, request or payload gets a clear error and changes nothing.',
    killedBy:
      'test/system/daemon/management/api/webhooks.test.ts: has at most twenty webhooks: the next one is refused, and is not there',
    file: 'operations/applied/webhooks.ts',
    text: '    if (state.webhooks.length >= webhooksMax) {',
    replacement: '    if (state.webhooks.length > webhooksMax) {',
  },
  {
    promise: 'A secret is stored only encrypted or as a digest.',
    killedBy: 'test/system/cli/commands/tokens.test.ts: prints a token once and stores only its digest',
    file: 'store/ports/api-tokens.ts',
    text: "  return hash('sha256', token);",
    replacement: '  return token;',
  },
  {
    promise: 'An invalid file, request or payload gets a clear error and changes nothing.',
    killedBy:
      'test/system/sources/read-entries.test.ts: get the verdict of the table in a directory and in a commit: %s as %s',
    file: 'sources/read-entries.ts',
    text: "  if (role.is === 'unknown') return { diagnostic: refuseUnknown(entry) };",
    replacement: "  if (role.is === 'unknown') return {};",
  },
  {
    promise: 'An invalid file, request or payload gets a clear error and changes nothing.',
    killedBy:
      'test/system/sources/read-entries.test.ts: nothing is written or read through a link, by init, add and export',
    file: 'sources/open-folder.ts',
    text: '  return useOpened(join(folder.at, name), O_NOFOLLOW, use);',
    replacement: '  return useOpened(join(folder.at, name), 0, use);',
  },
];
