import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/**
 * Creates a reader of the address by which a request's client is counted, see `toClientAddress`: the address of the peer, or
 * the one in X-Forwarded-For of a trusted proxy.
 */
export function createAddressReader(proxies: readonly string[]): (request: IncomingMessage) => string {
  if (proxies.length === 0) return request => toClientAddress(request.socket.remoteAddress);
  const trust = proxyAddr.compile([...proxies]);
  return request => toClientAddress(proxyAddr(request, trust));
}

/** Creates a check whether an address belongs to a trusted proxy. */
export function createProxyCheck(proxies: readonly string[]): (address: string) => boolean {
  const trust = proxyAddr.compile([...proxies]);
  return address => trust(address, 0);
}

/** Creates a check whether a request comes from one of these addresses or subnets, through trusted proxies or not. */
export function createSenderCheck(
  senders: readonly string[],
  proxies: readonly string[],
): (request: IncomingMessage) => boolean {
  const isSender = proxyAddr.compile([...senders]);
  const isProxy = proxyAddr.compile([...proxies]);
  return request => isSender(proxyAddr(request, isProxy), 0);
}

/**
 * Returns the address by which a client is counted. An IPv6 client is counted by its /64, the smallest network that is
 * assigned (RFC 6177): within it anyone can choose an address for each request.
 */
export function toClientAddress(address = ''): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map(part => part.toString(16));
  return `${network.join(':')}::/64`;
}
