import { openDaemonLog } from '../../../../daemon/observability/daemon-log.ts';

// Logs far more than may wait, and reports on standard output. Goes on when its standard input ends.
// main.ts does the same, which puts a pipe into non-blocking mode.
process.stderr.on('error', () => undefined);
const { log, close } = openDaemonLog('info');
const before = process.memoryUsage().rss;
const text = 'x'.repeat(1_000);
for (let n = 0; n < 100_000; n++) {
  log.info({ n }, text);
  if (n % 1_000 === 0) await new Promise(resolve => setImmediate(resolve));
}
process.stdout.write(`${process.memoryUsage().rss - before}\n`);
process.stdin.resume().once('end', async () => {
  log[process.argv[2] === 'fatal' ? 'fatal' : 'info']('the last line');
  await close();
  process.stdout.write('closed\n');
});
