// What happened to the factory in the pictures: the deliveries of a day and a half, as their senders would have sent them.

/** One request of a sender. */
export interface SceneEvent {
  readonly minutesAgo: number;
  readonly webhook: 'github' | 'stripe' | 'sentry' | 'deploys' | 'uptime';
  readonly payload: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The sender's ID of the event; two requests with the same are duplicates. */
  readonly id?: string;
  /** How many minutes before it is sent it was signed. */
  readonly signedMinutesBefore?: number;
  readonly hasWrongSecret?: true;
  /** Its runs do not end while the pictures are taken: they wait or work. */
  readonly isUnfinished?: true;
  /** What the alerts must show before the next event. */
  readonly raises?: string;
}

const repositories = ['shop', 'shop', 'search', 'shop', 'billing'] as const;

function github(minutesAgo: number, event: string, index: number, payload: object): SceneEvent {
  const name = repositories[index % repositories.length] ?? 'shop';
  return {
    ...{ minutesAgo, webhook: 'github', headers: { 'X-GitHub-Event': event } },
    payload: {
      ...payload,
      repository: { name, full_name: `acme/${name}`, private: true, default_branch: 'main' },
      organization: { login: 'acme' },
      sender: { login: ['jlin', 'dana', 'mo'][index % 3], type: 'User' },
    },
  };
}

const titles = [
  'Charge VAT by country',
  'Let carts have a shipping zone',
  'Find products by their old names',
  'Retry the tax service',
  'Round totals once',
  'Show refunds in the history of an order',
  'Search in German compounds',
] as const;

function pullRequest(minutesAgo: number, number: number, action = 'opened'): SceneEvent {
  const sha = (number * 7_919_113).toString(16).padStart(7, '0').slice(0, 7);
  return github(minutesAgo, 'pull_request', 0, {
    ...{ action, number },
    pull_request: {
      ...{ number, title: titles[number % titles.length], state: 'open', draft: false },
      ...{ head: { ref: `feature-${number}`, sha }, base: { ref: 'main' } },
      ...{ changed_files: 1 + (number % 4), additions: 12 + (number % 90), deletions: number % 17 },
    },
  });
}

function push(minutesAgo: number, index: number): SceneEvent {
  const after = (index * 104_729_001 + 268_435_456).toString(16).padEnd(40, '3').slice(0, 40);
  return github(minutesAgo, 'push', index, {
    ...{ ref: 'refs/heads/main', after, forced: false },
    commits: [{ id: after, message: titles[index % titles.length], author: { name: 'Jing Lin' } }],
  });
}

function issue(minutesAgo: number, number: number, title: string): SceneEvent {
  return github(minutesAgo, 'issues', 0, { action: 'opened', issue: { number, title, state: 'open' } });
}

function stripe(minutesAgo: number, type: string, index: number): SceneEvent {
  const id = `evt_1T${(index * 99_991 + 7_340_033).toString(36)}Kx2eZ`;
  const object = { id: `in_1T${(index * 7_919 + 50_000_017).toString(36)}`, object: 'invoice' };
  return {
    ...{ minutesAgo, webhook: 'stripe' },
    payload: {
      ...{ id, object: 'event', api_version: '2026-09-30', type, livemode: true },
      data: {
        object: { ...object, amount_paid: 1_900 + 400 * index, currency: 'eur', status: 'paid' },
      },
    },
  };
}

function sentry(minutesAgo: number, title: string, level: string): SceneEvent {
  return {
    ...{ minutesAgo, webhook: 'sentry', headers: { 'Sentry-Hook-Resource': 'error' } },
    payload: {
      action: 'created',
      data: {
        error: { title, level, project_slug: 'checkout', platform: 'node', environment: 'production' },
      },
    },
  };
}

function deploy(
  minutesAgo: number,
  id: string,
  action: string,
  service: string,
  environment: string,
  commit: string,
): SceneEvent {
  return { minutesAgo, webhook: 'deploys', id, payload: { action, service, environment, commit } };
}

function uptime(minutesAgo: number, status: string): SceneEvent {
  return { minutesAgo, webhook: 'uptime', payload: { check: 'shop.example.com', status, region: 'fra' } };
}

const hours = Array.from({ length: 30 }, (_, index) => index);

/** A quiet round of each hour: pushes at work time, pull requests and payments all day. */
const everyday = hours.flatMap(hour => {
  const minutesAgo = 60 * hour;
  return [
    ...(hour % 3 === 0 ? [] : [push(minutesAgo + 47, hour)]),
    ...(hour % 4 === 1 ? [pullRequest(minutesAgo + 40, 482 - hour)] : []),
    ...(hour % 2 === 1 ? [stripe(minutesAgo + 31, 'invoice.paid', hour)] : []),
    ...(hour % 9 === 4 ? [uptime(minutesAgo + 21, 'down'), uptime(minutesAgo + 17, 'up')] : []),
  ];
});

/** All of them, in the order in which they are sent. The last ones are why the pictures have something to explain. */
export const sceneEvents: readonly SceneEvent[] = [
  ...everyday,
  deploy(1_190, 'deploy-4706', 'succeeded', 'search', 'production', '1c4e9a7'),
  deploy(700, 'deploy-4711', 'succeeded', 'billing', 'production', '77aa01c'),
  deploy(402, 'deploy-4712', 'failed', 'checkout', 'staging', '52f01bd'),
  deploy(398, 'deploy-4713', 'succeeded', 'checkout', 'staging', '9fceb02'),
  sentry(512, 'RangeError: Invalid time value', 'warning'),
  sentry(333, "TypeError: Cannot read properties of undefined (reading 'shippingZone')", 'error'),
  { ...sentry(331, 'RangeError: Invalid time value', 'warning'), hasWrongSecret: true },
  ...[
    'The basket forgets its coupon',
    'Prices twice in the mail',
    'No invoice in Firefox',
    'Slow search',
  ].map((title, index) => ({
    ...issue(190 - 4 * index, 473 + index, title),
    ...(index === 3 && { raises: 'runs.stopped' }),
  })),
  { ...deploy(96, 'deploy-4714', 'failed', 'checkout', 'production', '9fceb02') },
  { ...deploy(94, 'deploy-4714', 'failed', 'checkout', 'production', '9fceb02') },
  {
    ...deploy(63, 'deploy-4715', 'failed', 'checkout', 'production', 'b31c8de'),
    ...{ isUnfinished: true, raises: 'runs.held' },
  },
  ...Array.from({ length: 12 }, (_, index) => ({
    ...stripe(30 - 2 * index, index % 3 === 2 ? 'charge.refunded' : 'invoice.paid', 40 + index),
    ...{ signedMinutesBefore: 15, ...(index === 11 && { raises: 'webhook.failing' }) },
  })),
  pullRequest(9, 487),
  deploy(6, 'deploy-4716', 'succeeded', 'search', 'production', '2ce4410'),
  { ...pullRequest(5, 488, 'synchronize'), id: 'a3f1c1b0-88d1-11f0-9a6e-3d1f2a0c55aa' },
  { ...pullRequest(4, 488, 'synchronize'), id: 'a3f1c1b0-88d1-11f0-9a6e-3d1f2a0c55aa' },
  sentry(2, "TypeError: Cannot read properties of null (reading 'currency')", 'error'),
  { ...pullRequest(1, 491), isUnfinished: true },
].toSorted((a, b) => b.minutesAgo - a.minutesAgo) as readonly SceneEvent[];
