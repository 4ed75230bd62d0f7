import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

/** Creates a reader of a request's client address: the peer's, or the one in X-Forwarded-For of a trusted proxy. */
export function createAddressReader(proxies: readonly string[]): (request: IncomingMessage) => string {
  const toPlain = (address: string | undefined) => (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  if (proxies.length === 0) return request => toPlain(request.socket.remoteAddress);
  const trust = proxyAddr.compile([...proxies]);
  return request => toPlain(proxyAddr(request, trust));
}
