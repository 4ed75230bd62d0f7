import { createServer } from 'node:net';
import type { Readiness } from '../../schema/readiness.ts';
import type { DaemonRecord } from '../../store/ports.ts';
import { askReadiness } from '../backend/daemon-health.ts';
import type { Symptom } from './symptom.ts';

/** @limit Time in which the ingress must answer through its base URL, in ms: a sender waits no longer, either. */
const answerMs = 5_000;
/** The ports of `hookmill serve`, unless settings choose others. */
const defaultPorts = { ingress: 8080, management: 8081 };

/** Looks at the daemon of the home: whether it runs, and whether senders reach it at its base URL. */
export async function examineDaemon(record: DaemonRecord | undefined, baseUrl: string): Promise<Symptom[]> {
  const readiness = record && (await askReadiness(record));
  if (!record || !readiness) return examinePorts();
  return [describe(readiness, record), await examineBaseUrl(baseUrl), ...examineProxies(record, baseUrl)];
}

function describe({ status, reason }: Readiness, { managementUrl }: DaemonRecord): Symptom {
  const text = `answers at ${managementUrl}, and is ${status}`;
  if (status === 'ready') return { subject: 'daemon', state: 'ok', text };
  return {
    subject: 'daemon',
    state: 'problem',
    text: `${text}: ${reason}`,
    remedy: 'correct that; `hookmill status` and its log say more',
  };
}

/** Without a daemon, its ports must be free for it. */
async function examinePorts(): Promise<Symptom[]> {
  const codes = await Promise.all(Object.values(defaultPorts).map(tryToListen));
  const taken = Object.entries(defaultPorts).filter((_, index) => codes[index] !== undefined);
  return [
    {
      subject: 'daemon',
      state: 'warning',
      text: 'no daemon of this home answers',
      remedy: 'start it with `hookmill serve`',
    },
    ...taken.map(([name, port]) => ({
      subject: 'ports',
      state: 'problem' as const,
      text: `another process has port ${port}`,
      remedy: `end it, or choose another ${name} port in the settings`,
    })),
    ...(taken.length === 0
      ? [{ subject: 'ports', state: 'ok' as const, text: 'the default ports 8080 and 8081 are free' }]
      : []),
  ];
}

/** Returns the error code if the port cannot be had. */
function tryToListen(port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise(resolve => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'EUNKNOWN'));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
}

/** Asks the ingress as a sender would, but with a method that it refuses, so that nothing is counted or recorded. */
async function examineBaseUrl(baseUrl: string): Promise<Symptom> {
  const url = `${baseUrl}/webhooks/w/doctor`;
  const subject = 'base URL';
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs) });
    const isIngress = response.headers.get('content-type')?.startsWith('application/problem+json');
    await response.body?.cancel();
    if (isIngress && (response.status === 404 || response.status === 405)) return examineReach(baseUrl);
    const text = `something else than the ingress answers at ${url} (${response.status})`;
    return {
      subject,
      state: 'problem',
      text,
      remedy: 'let the proxy pass on /webhooks/w/, or correct HOOKMILL_BASE_URL',
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error && 'code' in cause ? cause.code : String(error);
    return {
      subject,
      state: 'problem',
      text: `${url} cannot be reached from here (${why})`,
      remedy: 'look at its DNS name, TLS and proxy',
    };
  }
}

function examineReach(baseUrl: string): Symptom {
  const text = `the ingress answers at ${baseUrl}`;
  if (!isLoopback(baseUrl)) return { subject: 'base URL', state: 'ok', text };
  return {
    subject: 'base URL',
    state: 'warning',
    text: `${text}, which only this machine reaches`,
    remedy: 'set HOOKMILL_BASE_URL to the public URL',
  };
}

function isLoopback(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/** The ingress speaks no TLS itself, so a proxy is in front of an https URL. */
function examineProxies({ trustsProxies }: DaemonRecord, baseUrl: string): Symptom[] {
  if (!baseUrl.startsWith('https:')) return [];
  if (trustsProxies)
    return [
      { subject: 'proxy', state: 'ok', text: 'client addresses are taken from the proxies in trustProxies' },
    ];
  const text = 'the proxy in front of the ingress is not in trustProxies, so all senders share its limits';
  return [
    {
      subject: 'proxy',
      state: 'problem',
      text,
      remedy: 'add its address to `trustProxies` in the file of the daemon',
    },
  ];
}
