import { expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { bearerOf, startDaemon } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { areHomesInPostgres } from '../../../support/home-place.ts';
import { send } from '../../../support/http.ts';
import { pickMoment } from '../../../support/moment.ts';
import { readStore, storeIn } from '../../../support/stored.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

// With a database, each round waits until the lease of the killed daemon ends.
const rounds = areHomesInPostgres() ? 20 : 40;

/** The automations that a delivery's number starts, by the filters below. */
function expectedAutomations(n: number): string[] {
  return [
    ...(n % 2 === 0 ? ['even'] : []),
    'every',
    ...(n === 0 ? ['lasting'] : []),
    ...(n % 3 === 0 ? ['third'] : []),
  ];
}

test('killed at random moments under load, each accepted delivery keeps exactly its runs, and each is executed', async () => {
  const workspace = makeWorkspace();
  const { secret, uid } = await prepare();
  // The command itself records what was executed, in a file that outlives every daemon. The one lasting run continues
  // until the test creates a file, or until nobody reads its output.
  const executed = workspace.path('executed');
  workspace.write('executed', '');
  const script = `echo "$HOOKMILL_AUTOMATION $HOOKMILL_RUN_ID" >> '${executed}'
    [ "$HOOKMILL_AUTOMATION" = lasting ] || exit 0
    until [ -e '${executed}.all' ]; do echo at work; sleep 0.05; done`;
  const settings = {
    limits: { deliveriesPerMinute: 1_000_000 },
    runs: {
      runner: { kind: 'command', argv: ['sh', '-c', script] },
      ...{ attempts: 2 * rounds, backOff: { firstSeconds: 0.01, maxSeconds: 0.01 }, concurrency: 8 },
    },
  };
  const accepted = new Map<string, number>();
  let next = 0;

  const start = () => startDaemon({ workspace, settings });
  const post = async (url: string) => {
    const n = next++;
    const body = JSON.stringify({ n, even: n % 2 === 0, third: [n % 3] });
    const { status, deliveryId } = await send(url, { headers: bearerOf(secret), body });
    if (status === 202 && deliveryId) accepted.set(deliveryId, n);
  };

  for (let round = 1; round <= rounds; round++) {
    const daemon = await start();
    const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
    if (round === 1) await post(url);
    const begun = () => workspace.read('executed').match(/^lasting /gm)?.length;
    await eventually(async () => {
      await retryLasting();
      return begun() === round;
    });
    const acceptedAtKill = accepted.size + 1 + Math.floor(pickMoment() * 20);
    let killed = false;
    const sender = async () => {
      while (!killed) {
        // Refused once the daemon is gone: what got no 202 is owed nothing.
        await post(url).catch(() => undefined);
        if (accepted.size < acceptedAtKill) continue;
        daemon.process.kill('SIGKILL');
        killed = true;
      }
    };
    await Promise.all([sender(), sender()]);
    await daemon.process;
  }
  workspace.write('executed.all', '');

  const last = await start();
  const store = storeIn(homeAt(workspace.home));
  const log = store.deliveries;
  try {
    const all = () => log.listRuns({ factory: 'default', limit: 1_000_000 });
    const unfinished = ({ state }: Run) => state !== 'succeeded';
    await eventually(async () => {
      await retryLasting();
      return (await all()).every(run => !unfinished(run));
    });

    expect(accepted.size).toBeGreaterThan(rounds);
    for (const [deliveryId, n] of accepted) {
      const automations = (await log.listRunsOfDelivery(deliveryId)).map(({ automation }) => automation);
      expect(automations.sort(), `delivery ${n}`).toEqual(expectedAutomations(n));
    }
    // Deliveries whose 202 the kill cut off count as well: committed with their runs, or not there.
    const rows = await log.listDeliveries({ factory: 'default', limit: 1_000_000 });
    for (const { id } of rows) {
      const { n } = JSON.parse(Buffer.from((await log.readPayload(id)) ?? []).toString());
      const automations = (await log.listRunsOfDelivery(id)).map(({ automation }) => automation);
      expect(automations.sort(), `delivery ${n}`).toEqual(expectedAutomations(n));
    }
    const told = workspace.read('executed');
    expect((await all()).filter(({ id }) => !told.includes(id))).toEqual([]);
    const [lasting] = (await all()).filter(({ automation }) => automation === 'lasting');
    expect(lasting?.claims).toBe(rounds + 1);
  } finally {
    await store.close();
    await last.stop('SIGKILL');
  }

  /** Five kills in a row make a run fail: in a database, as soon as others see that its daemon is gone. */
  async function retryLasting() {
    const [failed] = await readStore(homeAt(workspace.home), ({ deliveries }) =>
      deliveries.listRuns({ factory: 'default', limit: 1, state: 'failed' }),
    );
    if (failed) await workspace.hookmill('runs', 'retry', failed.id);
  }

  async function prepare() {
    workspace.write('webhooks/load.yaml', 'secretName: LOAD\n');
    const { stdout } = await workspace.hookmill('secrets', 'generate', 'LOAD');
    const applied = await workspace.hookmill('apply', '-o', 'json');
    const [{ uid }] = JSON.parse(applied.stdout).changes;
    const filters = {
      ...{ every: undefined, even: { even: [true] }, third: { third: [0] } },
      ...{ lasting: { n: [0] }, never: { n: [-1] } },
    };
    for (const [name, payload] of Object.entries(filters)) {
      const trigger = { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], payload } };
      // Both triggers match: still one run.
      const triggers = [trigger, trigger];
      workspace.write(`automations/${name}.yaml`, JSON.stringify({ prompt: 'Act.', triggers }));
    }
    await workspace.hookmill('apply');
    return { secret: stdout.trim(), uid };
  }
});
