import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describeSender } from '../../schema/definitions/sender-keys.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { SentWebhook } from './open-sender.ts';

/** Names that no public DNS has: RFC 6761 and 6762, home.arpa (RFC 8375), and internal, which ICANN keeps free. */
const privateName = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa)$/i;

/**
 * Fails with `sender-not-ready` if a provider on the internet cannot deliver to the ingress URL. A provider with an address
 * of its own may be in the network of the daemon, so its URL may be any.
 */
export function requireReachable(url: string, { sender }: Pick<SentWebhook, 'sender'>): void {
  if (sender.url !== undefined) return;
  const { protocol, hostname } = new URL(url);
  const set = 'set --base-url or HOOKMILL_BASE_URL, or baseUrl in the configuration file of the daemon';
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  const isPublic = isIP(host) === 0 ? !privateName.test(host) : ipaddr.process(host).range() === 'unicast';
  if (!isPublic) {
    const detail = `the ingress URL ${url} cannot be reached by ${sender.provider}; ${set}`;
    throw new Refusal('sender-not-ready', { detail });
  }
  if (protocol === 'https:') return;
  const detail = `the ingress URL ${url} has no https, so deliveries of ${describeSender(sender)} could be read on their way; ${set}`;
  throw new Refusal('sender-not-ready', { detail });
}
