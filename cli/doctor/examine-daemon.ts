import { createServer } from 'node:net';
import { defaultPorts, type OwnBaseUrl } from '../../schema/ingress-url.ts';
import type { Readiness } from '../../schema/readiness.ts';
import type { DaemonRecord } from '../../store/ports/store.ts';
import { askReadiness } from '../backend/daemon-health.ts';
import { isLoopback } from '../backend/server-address.ts';
import { fine, problem, type Symptom, warning } from './symptom.ts';

/** @limit Time in which the ingress must answer through its base URL, in ms: a sender waits no longer, either. */
const answerMs = 5_000;

/** Checks whether the daemon of the home runs, and whether senders reach it at its base URL. */
export async function examineDaemon(
  record: DaemonRecord | undefined,
  baseUrl: OwnBaseUrl,
): Promise<Symptom[]> {
  const readiness = record && (await askReadiness(record.managementUrl, record));
  if (!record || !readiness) {
    const start = 'start it with `hookmill serve`';
    return [warning('daemon', 'no daemon of this home answers', start), ...(await examinePorts())];
  }
  const settings = [...examineProxies(record, baseUrl), ...examineConnections(record)];
  return [describe(readiness, record), await examineBaseUrl(baseUrl), ...settings];
}

function examineConnections({ connections }: DaemonRecord): Symptom[] {
  if (connections === undefined) return [];
  const text = `its limit of open files allows only ${connections} connections to the ingress, fewer than limits.connections`;
  return [warning('connections', text, 'raise the limit: LimitNOFILE= in the unit, or `ulimit -n`')];
}

function describe({ status, reason }: Readiness, { managementUrl }: DaemonRecord): Symptom {
  const text = `answers at ${managementUrl}, and is ${status}`;
  if (status === 'ready') return fine('daemon', text);
  return problem('daemon', `${text}: ${reason}`, 'correct that; `hookmill status` and its log say more');
}

/** Checks whether a daemon could listen on its default ports. */
async function examinePorts(): Promise<Symptom[]> {
  const { ingress, management } = defaultPorts;
  const taken: Symptom[] = [];
  for (const [name, port] of Object.entries(defaultPorts)) {
    if (await isFree(port)) continue;
    const remedy = `end it, or choose another ${name} port in the settings`;
    taken.push(problem('ports', `another process has port ${port}`, remedy));
  }
  if (taken.length > 0) return taken;
  return [fine('ports', `the default ports ${ingress} and ${management} are free`)];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Asks the ingress as a sender would, but with a method that it refuses, so that nothing is counted or recorded. */
async function examineBaseUrl(baseUrl: OwnBaseUrl): Promise<Symptom> {
  const url = `${baseUrl}/webhooks/w/doctor`;
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs) });
    const isIngress = response.headers.get('content-type')?.startsWith('application/problem+json');
    await response.body?.cancel();
    if (isIngress && (response.status === 404 || response.status === 405)) return examineReach(baseUrl);
    const text = `something else than the ingress answers at ${url} (${response.status})`;
    return problem('base URL', text, 'let the proxy pass on /webhooks/w/, or correct HOOKMILL_BASE_URL');
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error && 'code' in cause ? cause.code : String(error);
    const text = `${url} cannot be reached from here (${reason})`;
    return problem('base URL', text, 'look at its DNS name, TLS and proxy');
  }
}

function examineReach(baseUrl: string): Symptom {
  const text = `the ingress answers at ${baseUrl}`;
  if (!isLoopback(new URL(baseUrl).hostname)) return fine('base URL', text);
  const remedy = 'set HOOKMILL_BASE_URL to the public URL';
  return warning('base URL', `${text}, which only this machine reaches`, remedy);
}

/** Checks that the daemon trusts a proxy if its URL is https: the ingress itself has no TLS. */
function examineProxies({ trustsProxies }: DaemonRecord, baseUrl: string): Symptom[] {
  if (!baseUrl.startsWith('https:')) return [];
  if (trustsProxies) return [fine('proxy', 'client addresses are taken from the proxies in trustProxies')];
  const text = 'the proxy in front of the ingress is not in trustProxies, so all senders share its limits';
  return [problem('proxy', text, "add its address to `trustProxies` in the daemon's configuration file")];
}
