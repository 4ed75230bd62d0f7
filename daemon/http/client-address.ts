import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

/** Tells a request's client: its peer, or whom a trusted proxy names in X-Forwarded-For. */
export function clientAddressBehind(proxies: readonly string[]): (request: IncomingMessage) => string {
  const plain = (address: string | undefined) => (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  if (proxies.length === 0) return request => plain(request.socket.remoteAddress);
  const trust = proxyAddr.compile([...proxies]);
  return request => plain(proxyAddr(request, trust));
}
