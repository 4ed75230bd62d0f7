import type { Mutant } from './mutant.ts';

/** Faults that break what is promised against strangers. */
export const mutantsAgainstStrangers: readonly Mutant[] = [
  {
    promise: 'Only a sender with the credential of a webhook can deliver to it.',
    killedBy:
      'test/system/daemon/ingress/signature-senders.test.ts: is refused with one bit flipped in the body',
    file: 'signatures/verify.ts',
    text: '    const mismatch = match(parts.signatures, first);',
    replacement: '    const mismatch: MatchFailure | undefined = undefined;',
  },
  {
    promise: 'Only a sender with the credential of a webhook can deliver to it.',
    killedBy:
      'test/system/daemon/ingress/signature-senders.test.ts: is refused with a header of it sent twice',
    file: 'signatures/signed-request.ts',
    text: "  return values.length === 1 ? value : { code: 'header-repeated', header: name };",
    replacement: '  return value;',
  },
  {
    promise:
      'A token of an issuer is accepted only for its webhook, its audience and its claims, while it is valid.',
    killedBy: 'test/system/daemon/ingress/oidc.test.ts: refuses a token: %s',
    file: 'daemon/issuers/verify-token.ts',
    text: "  return explanation ? { result: 'refused', explanation } : { result: 'verified', claims };",
    replacement: "  return { result: 'verified', claims };",
  },
  {
    promise:
      'A token of an issuer is accepted only for its webhook, its audience and its claims, while it is valid.',
    killedBy: 'test/unit/schema/oidc/claims.test.ts: of %s are not %j',
    file: 'schema/definitions/oidc-keys.ts',
    text: "find(({ operator }) => operator === 'in');",
    replacement: "find(({ operator }) => operator !== 'exists');",
  },
  {
    promise:
      'No token makes the daemon wait or ask too often, and no definition makes it ask its own network.',
    killedBy:
      'test/system/daemon/ingress/oidc-keys.test.ts: asks the issuer only once in half a minute for keys that it does not have',
    file: 'daemon/issuers/issuer-keys.ts',
    text: "      if (sinceMs(entry) < unknownKeyMs) return entry.known.failure ? 'soon' : 'none';",
    replacement: '',
  },
  {
    promise:
      'No token makes the daemon wait or ask too often, and no definition makes it ask its own network.',
    killedBy:
      'test/system/daemon/ingress/oidc-keys.test.ts: asks no issuer with a private address or without https that the settings do not list',
    file: 'senders/guarded-request.ts',
    text: '    if (!request.isTrusted) requireGuarded(url, request.howToTrust);',
    replacement: '',
  },
  {
    promise: 'No definition decides where the credential of a provider goes.',
    killedBy:
      'test/system/cli/commands/senders-check.test.ts: a credential goes to no address that only a definition names',
    file: 'operations/senders/open-sender.ts',
    text: '  if (url !== undefined && !senderUrls.some(listed => isSameAddress(listed, url))) {',
    replacement: '  if (url !== undefined && senderUrls.length === 0) {',
  },
  {
    promise: 'A previous secret opens nothing once its overlap has ended.',
    killedBy:
      'test/system/daemon/ingress/overlap.test.ts: with %s: both values during an overlap, and only the new one after its end',
    file: 'daemon/authentication/authenticator.ts',
    text: '    return overlap.isRunning(nowMs)',
    replacement: '    return nowMs > 0',
  },
  {
    promise: 'A previous secret opens nothing once its overlap has ended.',
    killedBy:
      'test/system/daemon/ingress/overlap.test.ts: with %s: both values during an overlap, and only the new one after its end',
    file: 'daemon/authentication/authenticator.ts',
    text: '      const isInOverlap = !isCurrent && overlap?.isRunning(atMs) === true;',
    replacement: '      const isInOverlap = !isCurrent && overlap !== undefined;',
  },
  {
    promise: 'Answers do not tell which webhooks exist.',
    killedBy:
      'test/system/daemon/ingress/receive-delivery.test.ts: answers unknown, disabled, destroyed and malformed UIDs with one and the same 404',
    file: 'daemon/ingress/receive-delivery.ts',
    text: '  if (!webhook) return uid !== undefined && deps.isUnserved(uid) ? notServed : notFound;',
    replacement: '  if (!webhook) return uid === undefined || deps.isUnserved(uid) ? notServed : notFound;',
  },
  {
    promise: 'Answers do not tell which webhooks exist.',
    killedBy:
      'test/system/daemon/ingress/receive-delivery.test.ts: answers unknown, disabled, destroyed and malformed UIDs with one and the same 404',
    file: 'daemon/ingress/ingress.ts',
    text: '  const router = new Router({ sensitive: true, strict: true });',
    replacement: '  const router = new Router();',
  },
  {
    promise: 'A URL that was taken out of use for a leak does not return.',
    killedBy:
      'test/unit/operations/plan/destroyed-webhooks.test.ts: only a token in the URL must have the same value',
    file: 'operations/plan/destroyed-webhooks.ts',
    text: '  if (!isInUrl || former.secretVersion === secret?.value?.version) return { former };',
    replacement: '  if (former) return { former };',
  },
  {
    promise: 'A URL that was taken out of use for a leak does not return.',
    killedBy:
      'test/unit/operations/plan/destroyed-webhooks.test.ts: keeps nothing that authenticates a sender',
    file: 'operations/plan/destroyed-webhooks.ts',
    text: '    ...{ name, uid, ...(createdAt !== undefined && { createdAt }) },',
    replacement: '    ...{ name, uid, credential, ...(createdAt !== undefined && { createdAt }) },',
  },
  {
    promise: 'Nobody keeps the management port busy.',
    killedBy:
      'test/system/daemon/management/guards/refusals.test.ts: answers each token and each address only so many requests a minute, and says when to come back',
    file: 'daemon/management/guards/request-rate.ts',
    text: '    if (window.count <= max) return;',
    replacement: '      if (window.count > 0) return;',
  },
  {
    promise: 'Guessing is limited for each address, and cannot be hidden in a flood.',
    killedBy:
      'test/system/daemon/ingress/budgets.test.ts: verifies no more guesses than an address has, however many are in flight together',
    file: 'daemon/ingress/receive-delivery.ts',
    text: '  const late = signed && refuseGuessing(request, webhook, deps);',
    replacement: '  const late: IngressOutcome | undefined = undefined;',
  },
  {
    promise: 'A stranger cannot lock a sender out.',
    killedBy:
      'test/system/daemon/ingress/budgets.test.ts: answers 429 to the 31st failed attempt of an address, unverified, while another gets through',
    file: 'daemon/ingress/budgets.ts',
    text: '      failures.count(`${uid} ${clientAddress}`);',
    replacement: '      failures.count(`${uid} 192.0.2.1`);',
  },
  {
    promise: 'A handshake gives nothing away.',
    killedBy:
      'test/system/daemon/ingress/token-handshakes.test.ts: gets its decoded token back as plain text, once the token of the URL is right',
    file: 'signatures/handshake.ts',
    text: "    : { status: 200, headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' }, body };",
    replacement: "    : { status: 200, headers: { 'Content-Type': 'text/html' }, body };",
  },
  {
    promise: "A stranger's connections do not keep others out.",
    killedBy:
      'test/system/daemon/http/http-server.test.ts: of one address have a share: the one that has been idle longest gives way to a new one',
    file: 'daemon/http/connections.ts',
    text: '    if (isShareTaken || this.#slots.size >= this.#connectionsMax) {',
    replacement: '    if (this.#slots.size >= this.#connectionsMax) {',
  },
  {
    promise: 'Bodies of unverified senders take little memory',
    killedBy:
      'test/system/daemon/ingress/uploads.test.ts: bounds the memory of what one address uploads unverified, while others deliver',
    file: 'daemon/http/bodies.ts',
    text: '    if (client.bytes + bytes > this.#bytesMax / addressPart) return false;',
    replacement: '',
  },
  {
    promise: 'Nobody keeps the daemon busy with new connections or tiny chunks.',
    killedBy:
      'test/system/daemon/http/connection-load.test.ts: parses little more of a body that arrived at once, after its request was refused',
    file: 'daemon/http/http-server.ts',
    text: '    sliceInput(socket);\n    turns.open(socket);',
    replacement: '    turns.open(socket);',
  },
  {
    promise: 'Nobody keeps the daemon busy with new connections or tiny chunks.',
    killedBy:
      'test/system/daemon/http/connection-load.test.ts: the new connections of one address take turns, so that another one is served between them',
    file: 'daemon/http/connections.ts',
    text: '    if (turn.begun < connectionsAtOnce) {',
    replacement: '    if (turn.begun < Number.POSITIVE_INFINITY) {',
  },
  {
    promise: 'Explaining failed signatures takes little time',
    killedBy:
      'test/unit/daemon/ingress/time-share.test.ts: explanations that never stop take 1 % of the time',
    file: 'daemon/ingress/budgets.ts',
    text: 'const explainingMsPerSecond = 10;',
    replacement: 'const explainingMsPerSecond = 100;',
  },
  {
    promise: 'No payload changes how another payload is read.',
    killedBy: 'test/unit/json/parse-json-text.test.ts: is read as itself after %s: %s',
    file: 'json/parse-json-text.ts',
    text: '  return isMisread && hasEscapedKey(text) ? readAgain(text) : value;',
    replacement: '  return value;',
  },
  {
    promise: 'A hostile form is refused, or read as it is.',
    killedBy: 'test/unit/signatures/read-form.test.ts: refuses what is not UTF-8: %s',
    file: 'signatures/read-form.ts',
    text: '  return isUtf8(decoded) ? decoded.toString() : undefined;',
    replacement: '  return decoded.toString();',
  },
  {
    promise: 'No request is a server error.',
    killedBy:
      'test/system/daemon/http/http-server.test.ts: answers %s with 400 on both ports, and logs no error',
    file: 'daemon/http/http-server.ts',
    text: '  if (/[\\s/?#@\\\\,]/.test(host)) return false;',
    replacement: '',
  },
  {
    promise: 'Neither port parses on what it has answered, nor bodies in tiny pieces.',
    killedBy:
      'test/system/daemon/management/early-answers.test.ts: cuts off a body in tiny chunks, of a stranger and of a token',
    file: 'daemon/http/bodies.ts',
    text: "      if (room && pieces > freePieces && bytes < pieces * pieceBytesMin) return refuse('body-in-pieces');",
    replacement: '',
  },
  {
    promise: 'Strangers learn nothing from metrics and health.',
    killedBy:
      'test/system/daemon/management/guards/permission.test.ts: shows metrics and reasons only at an address of the machine, and to tokens; behind a proxy only whether it is ready',
    file: 'daemon/management/guards/browser-guards.ts',
    text: '  if (Object.keys(headers).some(name => /^(forwarded|via|x-real-ip|x-forwarded-.+)$/.test(name)))\n    return false;',
    replacement: '',
  },
  {
    promise: 'No value is a failure of the daemon',
    killedBy:
      'test/system/daemon/management/api/any-value.test.ts: no value in a path or a query is a failure of the daemon, on any route: %j',
    file: 'daemon/management/api/answer-problem.ts',
    text: '  if (error instanceof Refusal) return new ApiProblem(error.code, error.parts, cause);',
    replacement: '',
  },
  {
    promise: 'Who tries tokens, or asks for what they may not do, shows in the log and the metrics',
    killedBy:
      'test/system/daemon/management/guards/refusals.test.ts: logs a sample of who is refused, from where and at what, never with a token, and counts all',
    file: 'daemon/management/api/answer-problem.ts',
    text: '      if (suspicious.includes(code)) logRefusal(context, code);',
    replacement: '',
  },
];
