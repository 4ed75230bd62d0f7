import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { describeRepeatedId, identitySourceTexts, remedyRepeatedId } from '../../schema/clients/describe.ts';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import { isReplaySafe } from '../../schema/definitions/webhook-definition.ts';
import type { Outcome, UnloggedReason } from '../../schema/delivery.ts';
import type { WhyStep } from '../../schema/health.ts';
import { hasSecret } from '../../schema/names.ts';
import type { SenderFinding } from '../../schema/sender.ts';
import { describeTokenPlace } from '../../schema/token-place.ts';
import { type Explanation, splitReason } from '../../signatures/explanation.ts';
import type { UnloggedCount } from '../../store/ports/delivery-log.ts';
import { remedyDisabled, remedyRepeatedBody } from '../attention/remedies.ts';
import { maySeeReason } from '../views/delivery-views.ts';
import { judgeAutomationsStep, judgeRunsStep } from './judge-starts.ts';
import { formatTime, type Judgement, ok, unknown, type WhyFacts, wrong } from './why-facts.ts';

/** The function that judges each step. */
export const whySteps = {
  daemon: judgeDaemon,
  webhook: judgeWebhook,
  sender: judgeSender,
  url: judgeUrl,
  authentication: judgeAuthentication,
  limits: judgeLimits,
  json: judgeJson,
  identity: judgeIdentity,
  automations: judgeAutomationsStep,
  runs: judgeRunsStep,
} as const satisfies Readonly<Record<WhyStep, (facts: WhyFacts) => Judgement>>;

// Each step is judged by the last request that came so far: something is wrong if none came further since. What limits
// refused leaves no row, so that is told for an hour.

function judgeDaemon({ daemonProblem }: WhyFacts): Judgement {
  return daemonProblem ? wrong(daemonProblem.message, daemonProblem.remedy) : ok('it serves what is applied');
}

function judgeWebhook(facts: WhyFacts): Judgement {
  const { webhook, isOfDelivery, lastDay, management, isDisabledByHand: isByHand } = facts;
  if (!webhook) return unknown('it is no longer applied');
  if (webhook.enabled || isOfDelivery) return ok('it is applied and enabled');
  const refused = find(lastDay, 'disabled');
  const since = refused ? `; ${describeCount(refused)} since yesterday` : '';
  return wrong(
    `it is disabled, so its senders get 404${since}`,
    remedyDisabled(management, { kind: 'webhook', isByHand }),
  );
}

/**
 * The provider's hook is the cause if nothing can come from it, or if nothing was accepted since it was looked at, or since
 * the provider last tried in vain.
 */
function judgeAtProvider({ atProvider }: WhyFacts): Judgement | undefined {
  // Another step knows why an answer was no success.
  const worst = atProvider?.findings.find(({ code }) => code !== 'last-answer');
  if (!atProvider || !worst || worst.severity === 'note') return undefined;
  const { code, message, remedy } = worst;
  if (isSilencing.has(code)) return wrong(message, remedy);
  const missedAt = code === 'missed' ? atProvider.missed?.last : undefined;
  return wrong(message, remedy, { atMs: missedAt ? Date.parse(missedAt) : atProvider.checkedMs });
}

const isSilencing: ReadonlySet<SenderFinding['code']> = new Set(['hook-missing', 'inactive', 'disabled']);

function judgeSender(facts: WhyFacts): Judgement {
  const atProvider = judgeAtProvider(facts);
  if (atProvider) return atProvider;
  const lastMs = Math.max(lastLoggedMs(facts), lastUnloggedMs(facts.lastDay));
  const { unknownUrls, url, silence } = facts;
  // If a request was refused since, the sender is not silent.
  if (silence && lastMs <= silence.sinceMs) {
    const remedy = `Check that the sender still sends, still reaches this host, and posts to ${url}.`;
    return wrong(silence.reason, remedy);
  }
  if (lastMs > 0) return ok(`its last request came at ${formatTime(lastMs)}`);
  const elsewhere = unknownUrls === 0 ? '' : `; ${unknownUrls} came to unknown URLs in the last 24 hours`;
  return wrong(
    `no request has ever come${elsewhere}`,
    `Check that the sender is switched on, reaches this host, and posts to ${url}.`,
  );
}

function judgeUrl(facts: WhyFacts): Judgement {
  const { lastDay, url } = facts;
  const loggedMs = lastLoggedMs(facts);
  const similar = find(lastDay, 'similar URL');
  if (similar && similar.lastAtMs > loggedMs) {
    const message = `${describeCount(similar)} came to a similar URL: ${similar.detail}`;
    return wrong(message, `Set the sender to post to exactly ${url}.`, { atMs: similar.lastAtMs });
  }
  const otherMethod = find(lastDay, 'method');
  if (otherMethod && otherMethod.lastAtMs > loggedMs) {
    const atMs = otherMethod.lastAtMs;
    return wrong(`${describeCount(otherMethod)} came with another method`, 'Set the sender to use POST.', {
      atMs,
    });
  }
  return loggedMs > 0 ? ok('requests come to the right URL') : unknown('no request has come');
}

const credentialRemedies = {
  url_token: 'Set the sender to post to the whole URL, with the current value of the team secret at its end',
  signature: 'Set the team secret and the signing secret at the sender to the same value',
  oidc: 'Let the sender send a token of the issuer, with the audience and the claims of the webhook',
} as const;

function remedyCredential(webhook: AppliedWebhook): string {
  return webhook.authMode === 'token'
    ? `Set the sender to send \`${describeTokenPlace(webhook)}\` with the current value of the team secret`
    : credentialRemedies[webhook.authMode];
}

function judgeAuthentication(facts: WhyFacts): Judgement {
  const { webhook, last, lastDay } = facts;
  if (webhook?.credential.kind === 'unset' && hasSecret(webhook)) {
    return wrong(
      `the team secret ${webhook.secretName} has no value, so each delivery is answered 401`,
      `Run \`${renderSecretCommand(webhook)}\`; it says what makes the webhook use the value.`,
    );
  }
  const verifiedMs = lastOf(facts, 'Accepted', 'Duplicate', 'Rejected (invalid JSON)');
  const withoutKeys = judgeIssuer(facts, verifiedMs);
  if (withoutKeys) return withoutKeys;
  const rejected = last.get('Rejected (auth)');
  const unverified = ['authentication', 'incomplete'] as const;
  const spent = find(lastDay, 'failed attempts');
  const refusedMs = Math.max(
    rejected?.atMs ?? 0,
    spent?.lastAtMs ?? 0,
    ...unverified.map(reason => find(lastDay, reason)?.lastAtMs ?? 0),
  );
  if (refusedMs <= verifiedMs) return judgeVerified(facts, verifiedMs);
  const why = rejected
    ? `the last request was rejected: ${explanationOf(facts, 'Rejected (auth)').cause}`
    : 'requests are refused';
  const unread = spent
    ? `; ${describeCount(spent)} not verified at all, because their address had failed too often`
    : '';
  const later = spent ? ' The address can try again after a minute.' : '';
  const known = rejected && explanationOf(facts, 'Rejected (auth)').remedy;
  const remedy = webhook
    ? `${nameSecret(known ?? remedyCredential(webhook), webhook)}.${later}`
    : 'Its webhook is no longer applied, so nothing can be delivered to it.';
  return wrong(why + unread, remedy, { atMs: refusedMs });
}

/** Judges a webhook whose newest request was verified, or that had none: the previous value may have ended since. */
function judgeVerified({ overlap, last }: WhyFacts, atMs: number): Judgement {
  if (overlap?.isOver) return wrong(overlap.message, `${overlap.remedy}.`, { atMs });
  const verified = [...last.values()].find(row => row.atMs === atMs);
  if (!verified) return unknown(overlap?.message ?? 'no request has been verified');
  const how = verified.verifiedWith && !overlap ? ', with the previous secret' : '';
  return ok(`the last request was verified${how}${overlap ? `; ${overlap.message}` : ''}`);
}

/** Whether the keys that verify tokens are missing; undefined if that is not the cause. */
function judgeIssuer({ webhook, issuer, lastDay }: WhyFacts, verifiedMs: number): Judgement | undefined {
  if (webhook?.authMode !== 'oidc') return undefined;
  const unverified = find(lastDay, 'issuer keys');
  const isLast = unverified !== undefined && unverified.lastAtMs > verifiedMs;
  const hasNone = issuer?.failure && issuer.keys.length === 0;
  if (!hasNone && !isLast) return undefined;
  const atMs = isLast ? unverified.lastAtMs : undefined;
  const count = isLast ? `; ${describeCount(unverified)} got 503` : '';
  if (issuer?.failure) {
    return wrong(
      `the keys of ${issuer.issuer} cannot be fetched since ${issuer.failure.since}: ${issuer.failure.reason}${count}`,
      'Make sure that the daemon reaches the issuer; list one with a private address or without https in `oidc.issuers`.',
      { atMs },
    );
  }
  return wrong(
    `the key of a token was not fetched yet${count}`,
    'Let the sender send it again: the daemon fetches new keys when a token needs one.',
    { atMs },
  );
}

function judgeLimits(facts: WhyFacts): Judgement {
  const { last, lastHour } = facts;
  const limited = find(lastHour, 'rate limit');
  if (limited) {
    return wrong(
      `the rate limit refused ${describeCount(limited)} in the last hour`,
      `Let the sender send less, or retry after a 429; \`webhooks.${facts.webhook?.name ?? 'NAME'}.deliveriesPerMinute\` in the daemon's file raises the limit.`,
      { atMs: limited.lastAtMs },
    );
  }
  const unrecorded = find(lastHour, 'not recorded');
  if (unrecorded) {
    return wrong(
      `${describeCount(unrecorded)} could not be recorded and got 503 in the last hour`,
      'Read `/readyz` and the log of the daemon; senders that retry lose nothing.',
      { atMs: unrecorded.lastAtMs },
    );
  }
  const large = last.get('Rejected (too large)');
  if (large && large.atMs > lastOf(facts, 'Accepted')) {
    const message = `the body of the last delivery has ${large.size} bytes, more than the limit`;
    return wrong(message, 'Set the sender to send smaller events; `limits.bodyBytes` raises the limit.', {
      atMs: large.atMs,
    });
  }
  return ok('none is exceeded');
}

function judgeJson(facts: WhyFacts): Judgement {
  const invalidMs = lastOf(facts, 'Rejected (invalid JSON)');
  const parsedMs = lastOf(facts, 'Accepted', 'Duplicate');
  if (invalidMs > parsedMs) {
    const { cause, remedy = 'Set the sender to send JSON in UTF-8' } = explanationOf(
      facts,
      'Rejected (invalid JSON)',
    );
    return wrong(`the last request was rejected: ${cause}`, `${remedy}.`, { atMs: invalidMs });
  }
  return parsedMs > 0 ? ok('the last body was valid') : unknown('no body has been parsed');
}

function judgeIdentity(facts: WhyFacts): Judgement {
  const { last, webhook, repeatedId } = facts;
  const duplicate = last.get('Duplicate');
  const accepted = last.get('Accepted');
  if (repeatedId)
    return wrong(describeRepeatedId(repeatedId), `${remedyRepeatedId(repeatedId)}.`, {
      atMs: accepted?.atMs,
    });
  if (!duplicate || duplicate.atMs <= (accepted?.atMs ?? 0)) {
    if (!accepted) return unknown('none was identified');
    const { identitySource } = accepted;
    const source = identitySource ? `, by ${identitySourceTexts[identitySource]}` : '';
    return ok(`the last delivery was new${source}`);
  }
  const { duplicateOf, identitySource } = duplicate;
  if (identitySource === 'body') {
    return wrong(
      `the last is a duplicate of ${duplicateOf}: its body is the same, and it has no ID`,
      remedySameBody(webhook),
      { atMs: duplicate.atMs },
    );
  }
  const source = identitySource ? `, from ${identitySourceTexts[identitySource]}` : '';
  return wrong(
    `the last is a duplicate of ${duplicateOf}: it has the same ID${source}`,
    `If they are different events, correct the IDs of the sender; \`hookmill why ${duplicateOf}\` explains the first.`,
    { atMs: duplicate.atMs },
  );
}

/** A sender that only has a URL can set no header. */
function remedySameBody(webhook: AppliedWebhook | undefined): string {
  const header = webhook?.deliveryIdHeader ?? 'X-Service-Delivery-Id';
  const send = `Set the sender to send an ID in ${header}, or name its header as \`deliveryIdHeader\`, or its field as \`deliveryIdField\`.`;
  if (!webhook || !isReplaySafe(webhook.signatureScheme)) return send;
  const forget = `${remedyRepeatedBody(webhook.name)}.`;
  return webhook.authMode === 'url_token' ? forget : `${send} ${forget}`;
}

/** The newest requests for a reason: the counts are newest first. */
function find(counts: readonly UnloggedCount[], reason: UnloggedReason): UnloggedCount | undefined {
  return counts.find(count => count.reason === reason);
}

function describeCount({ count, lastAtMs }: UnloggedCount): string {
  return `${count} ${count === 1 ? 'request' : 'requests'} (last ${formatTime(lastAtMs)})`;
}

function lastOf({ last }: WhyFacts, ...outcomes: readonly Outcome[]): number {
  return Math.max(...outcomes.map(outcome => last.get(outcome)?.atMs ?? 0));
}

function lastLoggedMs({ last }: WhyFacts): number {
  return Math.max(0, ...[...last.values()].map(({ atMs }) => atMs));
}

function lastUnloggedMs(counts: readonly UnloggedCount[]): number {
  return counts[0]?.lastAtMs ?? 0;
}

function explanationOf({ last, permission }: WhyFacts, outcome: Outcome): Explanation {
  const reason = last.get(outcome)?.reason ?? 'no reason was recorded';
  const mayBeSeen = maySeeReason(outcome, permission);
  return splitReason(mayBeSeen ? reason : 'you need the manage permission to see the reason');
}

/** A remedy says `the team secret` where it means the webhook's. */
function nameSecret(remedy: string, { secretName = '' }: AppliedWebhook): string {
  return remedy.replace('the team secret', `the team secret ${secretName}`);
}
