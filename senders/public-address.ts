import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IANA's IPv4 Special-Purpose Address Registry (RFC 6890), whether it says "globally reachable" or not, and multicast. */
const specialIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
/** The part of IPv6 from which IANA assigns global unicast addresses. */
const globalIpv6 = ['2000::/3'];
/** Entries of IANA's IPv6 Special-Purpose Address Registry in that part. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];
/** IPv6 addresses that lead to the IPv4 address in their last 32 bits: IPv4-mapped, and NAT64 (RFC 6052). */
const holdIpv4 = ['::ffff:0:0/96', '64:ff9b::/96'];

const special = { ipv4: toList(specialIpv4, 'ipv4'), ipv6: toList(specialIpv6, 'ipv6') };
const global = toList(globalIpv6, 'ipv6');
const holding = toList(holdIpv4, 'ipv6');

/** Whether an address is one of the public internet, which no host of the daemon's own network has. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.ipv4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  if (holding.check(address, 'ipv6')) return isPublicAddress(toHeldIpv4(address));
  return global.check(address, 'ipv6') && !special.ipv6.check(address, 'ipv6');
}

function toHeldIpv4(address: string): string {
  // A URL has it without the dots that it may be written with.
  const { hostname } = new URL(`http://[${address}]`);
  return ipaddr.parse(hostname.slice(1, -1)).toByteArray().slice(-4).join('.');
}

function toList(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
