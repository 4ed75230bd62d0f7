import type { Mutant } from './mutant.ts';

/** Faults that break what is promised to senders, and against readers and holders of a token. */
export const mutantsForCallers: readonly Mutant[] = [
  {
    promise: 'A 202 is on disk.',
    killedBy:
      'test/system/store/embedded/delivery-log/durability.test.ts: syncs the write-ahead log before a delivery is reported recorded',
    file: 'store/embedded/delivery-log/sql/database.ts',
    text: "  const synchronous = database.pragma('synchronous');",
    replacement: "  database.pragma('synchronous = NORMAL');\n  const synchronous = synchronousFull;",
  },
  {
    promise: 'A delivery that cannot be stored is answered 503, so that its sender tries again.',
    killedBy:
      'test/system/daemon/log-faults.test.ts: answers 503 once its log was removed, says so, and ends with an error',
    file: 'daemon/ingress/record-delivery.ts',
    text: '    return { ...unavailable(webhook), cause };',
    replacement: "    return { result: 'accepted', webhook, deliveryId: '' };",
  },
  {
    promise: 'A webhook that exists and cannot be served is answered 503, not 404',
    killedBy:
      'test/system/daemon/served/served-states.test.ts: answers 503 where an unreadable state may have the webhook, and is ready once it is repaired',
    file: 'daemon/ingress/receive-delivery.ts',
    text: '  if (!webhook) return uid !== undefined && deps.isUnserved(uid) ? notServed : notFound;',
    replacement: '  if (!webhook) return notFound;',
  },
  {
    promise: 'A delivery is accepted once as long as it is kept:',
    killedBy:
      'test/system/daemon/ingress/receive-delivery.test.ts: accepts exactly one of fifty identical requests sent at once',
    file: 'store/embedded/delivery-log/sql/record.ts',
    text: '      identityKeyOf(row),\n      contentDigest,',
    replacement: '      null,\n      contentDigest,',
  },
  {
    promise: 'A captured request can do what its scheme says, and no more.',
    killedBy:
      'test/system/daemon/ingress/captured-requests.test.ts: is a duplicate however its signature is written',
    file: 'daemon/authentication/authenticator.ts',
    text: '        const contentDigest = digests ? digestContent(content) : undefined;',
    replacement: '        const contentDigest = undefined;',
  },
  {
    promise: 'A token does only what its permission and its factory allow.',
    killedBy:
      'test/system/daemon/management/guards/permission.test.ts: lets each token do only what its permission and factory allow, on every route',
    file: 'daemon/management/guards/caller.ts',
    text: "  if (needed === 'signed-in' || permission === 'manage' || permission === needed) return permission;",
    replacement: "  if (needed === 'signed-in' || permission !== undefined) return permission;",
  },
  {
    promise: 'A token does only what its permission and its factory allow.',
    killedBy:
      'test/system/daemon/management/api/deliveries.test.ts: knows no deliveries and runs of another factory',
    file: 'operations/log/require-logged.ts',
    text: '  if (delivery?.factory === name) return delivery;',
    replacement: '  if (delivery) return delivery;',
  },
  {
    promise: 'A token of an issuer may do only what the settings allow to its claims',
    killedBy:
      'test/system/daemon/management/guards/issuer-callers.test.ts: lets a job of a CI host read or manage the factories that the settings allow to its claims',
    file: 'daemon/management/guards/issuer-callers.ts',
    text: '  return explainClaims(claims, token) === undefined;',
    replacement: '  return explainClaims(claims, token) !== null;',
  },
  {
    promise: 'A team secret is only for its factory',
    killedBy:
      'test/system/daemon/management/api/webhooks.test.ts: is its factory’s own: the manager of another one can neither name nor change nor see it',
    file: 'store/documents/team-secrets.ts',
    text: '  return factory === undefined || !factories || factories.includes(factory);',
    replacement: '  return true;',
  },
  {
    promise: 'A team secret does not get a second use unnoticed.',
    killedBy:
      'test/system/operations/applied/apply.test.ts: warns about a team secret that another webhook or a repository uses in another way',
    file: 'operations/checks/shared-secrets.ts',
    text: '  if (!use) return undefined;\n  const isElsewhere',
    replacement: '  if (!use?.isCredential) return undefined;\n  const isElsewhere',
  },
  {
    promise: "A manager's work does not delay deliveries.",
    killedBy:
      'test/system/daemon/operations-thread/operations-thread.test.ts: stops an operation that takes too long with a problem that says so, and goes on with the next one',
    file: 'daemon/operations-thread/operations-thread.ts',
    text: '      this.#thread.terminate();\n',
    replacement: '',
  },
  {
    promise: 'A token takes no session or live view from another.',
    killedBy:
      "test/system/daemon/management/guards/permission.test.ts: a token that signs in again and again ends its own oldest session, and no other token's",
    file: 'store/documents/sessions.ts',
    text: '        const own = sessions.filter(session => session.ownerSha256 === ownerSha256);',
    replacement: '        const own = sessions;',
  },
  {
    promise:
      'A person who signs in at a provider gets what their groups may do, and only in the page that began.',
    killedBy:
      'test/system/daemon/management/sign-in.test.ts: finishes a sign-in only in the page that has its key, whatever the cookie',
    file: 'daemon/management/api/session-handlers.ts',
    text: '  const combine = (secret: string, key: string) => `${secret} ${key}`;',
    replacement: '  const combine = (secret: string, _key: string) => secret;',
  },
  {
    promise:
      'A person who signs in at a provider gets what their groups may do, and only in the page that began.',
    killedBy:
      'test/system/daemon/management/sign-in.test.ts: lets a person do what their groups may, and nothing else',
    file: 'daemon/management/sign-in/open-sign-in.ts',
    text: '      const held = settings.grants.filter(({ group }) => groups.includes(group));',
    replacement: '      const held = groups.length > 0 ? settings.grants : [];',
  },
  {
    promise: 'A session ends when nobody uses it, and can be ended.',
    killedBy:
      'test/system/daemon/management/guards/permission.test.ts: ends a session that nobody has used for an hour, also if its page goes on reading by itself',
    file: 'daemon/management/guards/sessions.ts',
    text: '      if (presented.isAttended && session.idleForMs >= sessionUseMs) {',
    replacement: '      if (session.idleForMs >= sessionUseMs) {',
  },
  {
    promise: 'Logs say who it was.',
    killedBy:
      'test/system/daemon/management/sign-in.test.ts: cuts a long name, but not the subject by which a person is known',
    file: 'operations/access/audit.ts',
    text: '  return name.slice(0, auditTextCharsMax - end.length) + end;',
    replacement: '  return name + end;',
  },
  {
    promise: 'Behind https, browsers come only with https.',
    killedBy:
      'test/system/daemon/management/guards/permission.test.ts: tells browsers on both ports to come only with https, behind https and nowhere else',
    file: 'daemon/http/http-server.ts',
    text: "    if (isOverTls(request)) response.setHeader('Strict-Transport-Security', strictTransport);",
    replacement: "    response.setHeader('Strict-Transport-Security', strictTransport);",
  },
  {
    promise: 'Other sites and other ports of the host cannot act in a browser that is signed in.',
    killedBy:
      "test/system/daemon/management/guards/permission.test.ts: takes a session's writes only from the dashboard's own script",
    file: 'daemon/management/api/api-router.ts',
    text: "  if (caller.over === 'session') requireSameSite(context.req);",
    replacement: '',
  },
  {
    promise: 'Other sites and other ports of the host cannot act in a browser that is signed in.',
    killedBy:
      'test/system/daemon/management/guards/permission.test.ts: refuses host names that others can point at it',
    file: 'daemon/management/guards/browser-guards.ts',
    text: '    if (host === undefined || (host !== ownHost && !cannotBeRebound(host))) {',
    replacement: '    if (host === undefined) {',
  },
  {
    promise: 'Text from outside stays text.',
    killedBy:
      'test/system/cli/printing.test.ts: automations show and plan print a prompt with its lines, and nothing in it is obeyed',
    file: 'cli/output.ts',
    text: 'export function printText(text: string): void {\n  process.stdout.write(printableText(text));',
    replacement: 'export function printText(text: string): void {\n  process.stdout.write(text);',
  },
  {
    promise: 'An agent reads, and what senders write reaches it as data.',
    killedBy:
      'test/system/cli/commands/mcp.test.ts: payloads and output are left out unless an agent asks for them',
    file: 'cli/mcp/tools.ts',
    text: '      ...(payload && { payload: raw.payload',
    replacement: '      ...(payload !== null && { payload: raw.payload',
  },
  {
    promise: 'No change is made without an entry in the audit log, and refused requests leave none.',
    killedBy:
      'test/system/operations/access/record-writes.test.ts: has an unfinished entry before the first write of a request, and one entry after all of them',
    file: 'operations/access/record-writes.ts',
    text: '      await begin();\n      return write(...args);',
    replacement: '      const written = await write(...args);\n      await begin();\n      return written;',
  },
  {
    promise: 'No change is made without an entry in the audit log, and refused requests leave none.',
    killedBy:
      'test/system/daemon/management/api/audit.test.ts: writes nothing to the audit log for requests that are refused, whoever sends them',
    file: 'operations/access/record-writes.ts',
    text: '      const decided = await decide(state);\n      if (decided.next) await begin();\n      return decided;',
    replacement: '      await begin();\n      return decide(state);',
  },
  {
    promise:
      'A caller who may only read starts no command of the operator, and such commands hold up nobody else.',
    killedBy:
      'test/system/daemon/management/api/references.test.ts: starts the command of a reference for those who may manage, and never for those who may read',
    file: 'operations/access/secrets.ts',
    text: "  const open: TeamSecrets['open'] = (names, factory) => store.teamSecrets.open(names, factory, readOutside);",
    replacement:
      "  const open: TeamSecrets['open'] = (names, factory) =>\n    store.teamSecrets.open(names, factory, readOutside ?? undefined);",
  },
  {
    promise: 'A hostile server cannot harm a machine through its commands.',
    killedBy:
      'test/system/cli/commands/queries.test.ts: that reads no file and obeys nothing, whatever the server says',
    file: 'schema/clients/render-curl.ts',
    text: "    isWord ? `--data-raw ${quoteShellWord(text)}` : '--data-binary @-',",
    replacement: "    isWord ? `--data-binary ${quoteShellWord(text)}` : '--data-binary @-',",
  },
  {
    promise: 'Another user of the machine reads nothing of hookmill, and runs nothing in it.',
    killedBy:
      'test/system/cli/commands/definitions/apply.test.ts: only the owner can read the files of the home',
    file: 'store/home/durable-file.ts',
    text: 'export async function replaceFile(file: string, data: string | Uint8Array, mode = 0o600): Promise<void> {',
    replacement:
      'export async function replaceFile(file: string, data: string | Uint8Array, mode = 0o644): Promise<void> {',
  },
];
