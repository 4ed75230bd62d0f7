import { afterAll, beforeAll, expect, test } from 'vitest';
import file from '../../../../docs/corpus/identities.json' with { type: 'json' };
import { schemes } from '../../../../signatures/schemes.ts';
import { send, successStatusOf } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import { credentialsFor, getScheme, nowMs, sent } from '../../../unit/signatures/received.ts';

interface IdentityCase {
  readonly name: string;
  readonly webhook: {
    readonly signatureScheme?: string;
    readonly deliveryIdHeader?: string;
    readonly deliveryIdField?: string | readonly string[];
  };
  readonly deliveries: readonly IdentifiedDelivery[];
}

interface IdentifiedDelivery {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly identity: string;
  readonly source: string;
  readonly duplicateOf?: number;
}

const cases: readonly IdentityCase[] = file.cases;
const token = 'token-of-the-sender';

let daemon: InProcessDaemon;
beforeAll(async () => {
  const given = cases.map(({ webhook: { signatureScheme: scheme, ...keys } }) =>
    scheme === undefined
      ? { ...keys, secret: token }
      : { ...keys, scheme, secret: credentialsFor(getScheme(scheme)).secret },
  );
  daemon = await startInProcessDaemon(given);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

test.each(cases.map((one, index) => ({ ...one, index, of: one.webhook.signatureScheme ?? 'a token' })))(
  '$of: $name',
  async ({ webhook: { signatureScheme }, deliveries, index }) => {
    const webhook = daemon.webhooks[index];
    if (!webhook) throw new Error(`no webhook ${index}`);
    const ids: string[] = [];
    // A signature over the same content at the same time would be a captured request.
    for (const [number, delivery] of deliveries.entries()) {
      const signed = signatureScheme && sign(signatureScheme, delivery, webhook.url, nowMs + number * 1_000);
      const credentials = signed || { authorization: `Bearer ${token}` };
      const { body, headers } = delivery;
      const answer = await send(webhook.url, { body, headers: { ...credentials, ...headers } });
      expect(answer.status, body).toBe(signatureScheme ? successStatusOf(signatureScheme) : 202);
      ids.push(answer.deliveryId ?? '');
    }
    const rows = (await webhook.rows()).toReversed();
    expect(
      rows.map(({ outcome, identity, identitySource }) => ({ outcome, identity, source: identitySource })),
    ).toEqual(
      deliveries.map(({ duplicateOf, identity, source }) => ({
        outcome: duplicateOf === undefined ? 'Accepted' : 'Duplicate',
        ...{ identity, source },
      })),
    );
    expect(rows.map(({ duplicateOf }) => duplicateOf)).toEqual(
      deliveries.map(({ duplicateOf }) => (duplicateOf === undefined ? undefined : rows[duplicateOf]?.id)),
    );
    expect(ids).toEqual(deliveries.map(({ duplicateOf = -1 }, at) => rows[duplicateOf]?.id ?? rows[at]?.id));
  },
);

test('every scheme whose body identifies deliveries takes part', () => {
  const identified = schemes.filter(({ bodyIdentity: { field, hashWithout } = {} }) => field ?? hashWithout);
  expect(identified.length).toBeGreaterThan(10);
  const taken = cases.map(({ webhook }) => webhook.signatureScheme);
  expect(taken).toEqual(expect.arrayContaining(identified.map(({ id }) => id)));
});

/** Signs a delivery as its sender would, without an ID of its own in a header that is not signed. */
function sign(
  id: string,
  { body, headers: given = {} }: IdentifiedDelivery,
  url: string,
  atMs: number,
): Record<string, string> {
  const scheme = getScheme(id);
  const { idHeader, deliveryIdHeader } = { idHeader: undefined, ...scheme };
  const { headers } = sent(scheme, {
    body: Buffer.from(body),
    url,
    id: given[idHeader ?? ''] ?? '',
    nowMs: atMs,
  });
  const unsigned = idHeader === undefined ? deliveryIdHeader?.toLowerCase() : undefined;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, values]) =>
      name === unsigned ? [] : [[name, values?.[0] ?? '']],
    ),
  );
}
