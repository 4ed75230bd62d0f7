// An agent behind HTTP: takes on runs of hookmill, executes a program for each, and reports its end.
//   AGENT_TOKEN=… PORT=8090 node http-agent.mjs PROGRAM [ARGUMENT…]
// The program starts in a directory of its own with the files of the run, and reads the message on standard input.
import { spawn } from 'node:child_process';
import { hash, timingSafeEqual } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [program, ...programArguments] = process.argv.slice(2);
const { AGENT_TOKEN, PORT = '8090', ...environment } = process.env;
if (!AGENT_TOKEN || !program) throw new Error('set AGENT_TOKEN, and name a program');
const digest = text => hash('sha256', text, 'buffer');

const server = createServer(async (request, response) => {
  const { authorization = '', 'hookmill-callback': callback } = request.headers;
  const isKnown = timingSafeEqual(digest(authorization), digest(`Bearer ${AGENT_TOKEN}`));
  if (!isKnown || request.method !== 'POST' || !callback)
    return response.writeHead(isKnown ? 400 : 401).end();
  const form = await new Response(request, { headers: request.headers }).formData().catch(() => undefined);
  if (!form) return response.writeHead(400).end();
  // Until this is on disk, hookmill may post the run again; from the answer on, it waits for the report.
  const directory = await mkdtemp(join(tmpdir(), 'run-'));
  for (const [name, value] of form) {
    if (typeof value === 'string' || !/^[a-z-]+(\/\d+)?\.json$/.test(name)) continue;
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), await value.bytes());
  }
  response.writeHead(202, { 'hookmill-callback': 'accepted' }).end();
  const status = await execute(directory, String(form.get('message')));
  await rm(directory, { recursive: true, force: true });
  const [state, message] =
    status === 0 ? ['succeeded', 'Done'] : ['failed', `The program ended with ${status}`];
  await report(callback, { state, message });
});

function execute(cwd, message) {
  return new Promise(resolve => {
    const child = spawn(program, programArguments, {
      cwd,
      env: environment,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.on('error', ({ code }) => resolve(code)).on('exit', (code, signal) => resolve(code ?? signal));
    child.stdin.on('error', () => undefined).end(message);
  });
}

/** 204: taken. 410: the attempt is over, nobody waits. Anything else passes, for example while the daemon restarts. */
async function report(callback, body) {
  for (let waitMs = 1_000; ; waitMs = Math.min(2 * waitMs, 60_000)) {
    const options = { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(30_000) };
    const { status = 0 } = await fetch(callback, options).catch(() => ({}));
    if ([204, 400, 404, 410].includes(status)) return;
    await sleep(waitMs);
  }
}

server.listen(Number(PORT), () => console.log(`listening on port ${server.address().port}`));
