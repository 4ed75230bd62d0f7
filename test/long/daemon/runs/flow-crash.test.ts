import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, inject, test, vi } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { applyTriggered } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemon } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { pickMoment } from '../../../support/moment.ts';
import { storeIn } from '../../../support/stored.ts';
import { testLimitMs } from '../../../support/test-limit.ts';
import { makeWorkspace } from '../../../support/workspace.ts';
import { findFlowViolations, type Posted } from './find-flow-violations.ts';

const isLong = inject('isLong');
const rounds = isLong ? 200 : 1;
/** The deliveries of a burst. Another one begins when most runs of the last have ended. */
const burstSize = isLong ? 1_000 : 20;
const senders = 4;
const limitMs = isLong ? 3_600_000 : testLimitMs;

/** The automations, each with keys of its own; `flows` in the checks says the same in other words. */
const automations = {
  limited: { concurrency: 2 },
  keyed: { concurrency: 1, concurrencyKey: '$.repo' },
  ordered: { order: '$.issue' },
  held: { order: '$.issue', onFailure: 'hold', attempts: 1 },
  both: { order: '$.issue', concurrency: 2 },
  gathering: { debounce: { for: '1s', key: '$.pr', atMost: '3s' } },
  fused: { runsPerHour: 10 },
};

/** The automations of which somebody cancels runs, at random moments. */
const cancelled = ['limited', 'keyed', 'ordered', 'both'];

/** Records when it starts and ends, in lines that are appended as a whole. Some first attempts fail, and some runs of `held`. */
const script = `
  read -r payload < "$HOOKMILL_PAYLOAD_FILE" || :
  if [ -n "$HOOKMILL_PAYLOADS_DIR" ]; then
    payload=
    for file in "$HOOKMILL_PAYLOADS_DIR"/*; do read -r one < "$file" || :; payload="$payload,$one"; done
    payload="[\${payload#,}]"
  fi
  line="$ROUND $HOOKMILL_AUTOMATION $HOOKMILL_RUN_ID $HOOKMILL_FENCING_TOKEN $payload"
  trap 'echo "stop $line" >> "$STORY"; exit 1' TERM
  echo "start $line" >> "$STORY"
  sleep 0.02
  case "$HOOKMILL_AUTOMATION $HOOKMILL_ATTEMPT $payload" in
    held*) ;;
    *' 1 '*'"again":true'*) echo "pause $line" >> "$STORY"; exit 1;;
  esac
  echo "end $line" >> "$STORY"
  case "$HOOKMILL_AUTOMATION $payload" in held*'"fails":true'*) exit 1;; esac`;

test('killed at random moments under a burst, and while runs are cancelled, the daemon keeps each limit and order, loses no run, and gathers each delivery once', {
  timeout: limitMs,
}, async () => {
  const workspace = makeWorkspace();
  const { secret, uid } = await applyTriggered(workspace, automations);
  const story = workspace.path('story');
  workspace.write('story', '');
  const tell = (line: string) => appendFileSync(story, `${line}\n`);
  const read = () => workspace.read('story');
  const settings = {
    limits: { deliveriesPerMinute: 1_000_000 },
    runs: {
      runner: { kind: 'command', argv: ['sh', '-c', script], environment: ['ROUND', 'STORY'] },
      ...{ attempts: 100, backOff: { firstSeconds: 0.2, maxSeconds: 0.2 }, concurrency: 30 },
    },
  };
  const posted: Posted[] = [];
  let [clock, next, left] = [0, 0, 0];
  const post = async (url: string) => {
    const n = next++;
    const [issue, repo, pr] = [n % 7, n % 5, n % 3];
    const about: Posted = { n, issue, repo, sentAt: ++clock };
    posted.push(about);
    const body = JSON.stringify({ n, issue, repo, pr, fails: n % 20 === 19, again: n % 4 === 0 });
    const sent = { headers: bearerOf(secret), body };
    const { status } = await send(url, sent);
    if (status === 202) about.acceptedAt = ++clock;
  };

  for (let round = 1; round <= rounds + 1; round++) {
    const daemon = await startDaemon({ workspace, settings, env: { ROUND: `${round}`, STORY: story } });
    const store = storeIn(homeAt(workspace.home));
    const count = async () => {
      const { queued, running } = await store.deliveries.countUnfinishedRuns();
      return queued + running;
    };
    const isLast = round === rounds + 1;
    let isOver = false;
    if (!isLast && (await count()) < burstSize) left = burstSize;
    const sender = async () => {
      // Refused once the daemon is gone: what got no 202 is owed nothing.
      while (!isOver && left-- > 0)
        await post(`${daemon.ingressUrl}/webhooks/w/${uid}`).catch(() => undefined);
    };
    const cancelling = isLast ? undefined : cancelSome(store, tell, () => isOver);
    const sending = Array.from({ length: isLast ? 0 : senders }, sender);
    const linesAtKill = countLines(read()) + Math.floor(pickMoment() * (isLong ? 100 : 40));
    const isRoundOver = async () => {
      if (isLast) await actOnFailed(tell);
      const isDone = (isLast || left <= 0) && (await count()) === 0;
      return isDone || (!isLast && countLines(read()) >= linesAtKill);
    };
    await vi.waitUntil(isRoundOver, { timeout: limitMs, interval: 25 });
    isOver = true;
    daemon.process.kill('SIGKILL');
    await Promise.all([daemon.process.catch(() => undefined), cancelling, ...sending]);
    tell(`kill ${round}`);
    await store.close();
    await actOnFailed(tell);
  }
  expect(posted.filter(({ acceptedAt }) => acceptedAt).length).toBeGreaterThanOrEqual(burstSize / 2);
  const ended = await readEnds();
  expect(findFlowViolations(read(), posted)).toEqual([]);
  expect(ended.states).toEqual(['cancelled', 'succeeded']);
  expect(ended.cancelled).toBeGreaterThan(0);

  /** The states of the runs that somebody may have cancelled. */
  async function readEnds() {
    const store = storeIn(homeAt(workspace.home));
    const runs = await Promise.all(
      cancelled.map(automation =>
        store.deliveries.listRuns({ factory: 'default', automation, limit: 1_000_000 }),
      ),
    );
    await store.close();
    const states = runs.flat().map(({ state }) => state);
    const isCancelled = (state: string) => state === 'cancelled';
    return { states: [...new Set(states)].sort(), cancelled: states.filter(isCancelled).length };
  }

  /** Retries what failed only because of too many kills in a row, and gives up the others, so that those behind them go on. */
  async function actOnFailed(tell: (line: string) => void) {
    const store = storeIn(homeAt(workspace.home));
    const listed = await store.deliveries.listRuns({ factory: 'default', state: 'failed', limit: 10_000 });
    const failed = listed.filter(({ dismissed, stopped }) => !dismissed && !stopped);
    // To open the log starts a thread.
    const log = failed.length > 0 ? await store.openDeliveryLog() : undefined;
    for (const { id, error } of failed) {
      if (error?.includes('the run is what ends it')) {
        tell(`lapse ${id}`);
        await log?.retryRun({ id, nowMs: Date.now() });
      } else {
        tell(`dismiss ${id}`);
        await log?.dismissRun(id);
      }
    }
    await log?.close();
    await store.close();
  }
});

/** Cancels a run, and after a moment another one, until it is told to stop. Tells which, before it does. */
async function cancelSome(store: Store, tell: (line: string) => void, isOver: () => boolean): Promise<void> {
  const log = await store.openDeliveryLog();
  while (!isOver()) {
    await setTimeout(20 + pickMoment() * 60);
    const of = {
      factory: 'default',
      automation: pick(cancelled),
      state: pick(['queued', 'running'] as const),
    };
    const run = pick(await store.deliveries.listRuns({ ...of, limit: 100 }));
    const payload = run && (await store.deliveries.readPayload(run.deliveryId));
    if (!payload) continue;
    tell(`cancel ${run.automation} ${JSON.parse(Buffer.from(payload).toString()).n}`);
    // It may fail while the daemon that was killed still holds a lock.
    await log.cancelRun({ id: run.id, cancel: { by: 'ada', atMs: Date.now() } }).catch(() => undefined);
  }
  await log.close();
}

function pick<T>(among: readonly T[]): T {
  return among[Math.floor(pickMoment() * among.length)] as T;
}

/** Counts what runs have told. */
function countLines(text: string): number {
  return text.split('\n').filter(line => line !== '' && !line.startsWith('cancel ')).length;
}
