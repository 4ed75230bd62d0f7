// Sends the requests of one attack, which it reads from its standard input, and prints an AttackReport. A process of its
// own, so that its work does not delay the measurements; it runs below normal priority, because a real attacker does
// not share the daemon's processor.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import type { AttackReport, AttackSpec } from './attack-shape.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const spec = JSON.parse(await text(process.stdin)) as AttackSpec;
const { hostname, port } = new URL(spec.url);
const body = spec.bodyFile === undefined ? Buffer.alloc(0) : readFileSync(spec.bodyFile);
const payload = spec.chunkBytes === undefined ? body : cutIntoChunks(body, spec.chunkBytes);
const statuses: Record<string, number> = {};
const open = new Set<Socket>();
let requests = 0;
let dropped = 0;
let connections = 0;
let over = false;

const ended = Array.from({ length: spec.connections }, () => keepSending());
setTimeout(end, spec.seconds * 1_000);
await Promise.all(ended);
end();

function end(): void {
  if (over) return;
  over = true;
  for (const socket of open) socket.destroy();
  const report: AttackReport = { requests, statuses, dropped };
  process.stdout.write(JSON.stringify(report), () => process.exit());
}

async function keepSending(): Promise<void> {
  while (!over && requests < (spec.requestsMax ?? Number.POSITIVE_INFINITY)) await useConnection();
}

/** Sends requests over one connection, until either side closes it. */
function useConnection(): Promise<void> {
  const localAddress = spec.from[connections++ % spec.from.length] ?? '127.0.0.1';
  const host = localAddress.includes(':') ? '::1' : hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port), localAddress });
  let answered = false;
  open.add(socket);
  socket.on('connect', () => sendRequest(socket));
  socket.on('data', data => {
    const found = data.toString('latin1').match(/(?<=HTTP\/1\.1 )\d{3}(?= )/g) ?? [];
    for (const status of found) statuses[status] = (statuses[status] ?? 0) + 1;
    answered ||= found.length > 0;
    if (found.length > 0 && spec.afterwards === 'next') sendRequest(socket);
  });
  return new Promise(resolve => {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (!answered && spec.afterwards !== 'abort' && !over) dropped += 1;
      // A refused connection must not become a loop that only connects.
      setTimeout(resolve, answered || spec.afterwards === 'abort' ? 0 : 10);
    });
  });
}

function sendRequest(socket: Socket): void {
  if (requests >= (spec.requestsMax ?? Number.POSITIVE_INFINITY)) return void socket.end();
  requests += 1;
  const head = `${spec.head.join('\r\n').replaceAll('{n}', String(requests)).replaceAll('{network}', addressOf(requests))}\r\n\r\n`;
  socket.write(head);
  const sendBody = () =>
    socket.write(payload, () => {
      if (spec.afterwards === 'abort') socket.destroy();
    });
  if (spec.bodyAfterMs === undefined) sendBody();
  else setTimeout(sendBody, spec.bodyAfterMs);
}

/** An address of the network 2001:db8::/64, which one customer of a provider may have as a whole. */
function addressOf(count: number): string {
  return `2001:db8::${(count >>> 16).toString(16)}:${(count & 0xffff).toString(16)}`;
}

function cutIntoChunks(bytes: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  const head = Buffer.from(`${size.toString(16)}\r\n`);
  const tail = Buffer.from('\r\n');
  for (let at = 0; at + size <= bytes.length; at += size) {
    parts.push(head, bytes.subarray(at, at + size), tail);
  }
  return Buffer.concat(parts);
}
