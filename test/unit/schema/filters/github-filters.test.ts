import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { PayloadFilter } from '../../../../schema/filters/clause.ts';
import { compileFilterIndex } from '../../../../schema/filters/filter-index.ts';
import { payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';
import { compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';
import { findFilterWarnings } from '../../../../schema/filters/warnings/find-filter-warnings.ts';

interface EventExamples {
  readonly name: string;
  readonly examples: readonly unknown[];
}

const events: readonly EventExamples[] = createRequire(import.meta.url)('@octokit/webhooks-examples');

// Each filter with the event that it is for, as the example payloads of octokit name it.
const filters: readonly (readonly [event: string, filter: string])[] = [
  ['issues', '{ action: [opened, reopened] }'],
  ['issues', '{ action: [opened], issue: { state: [open] } }'],
  ['issues', '{ action: [labeled], label: { name: [bug] } }'],
  ['issues', '{ issue: { labels: { name: [bug, enhancement] } } }'],
  ['issues', '{ action: [assigned], assignee: { login: [Codertocat] } }'],
  ['issues', '{ issue: { assignees: { login: [Codertocat] } } }'],
  ['issues', '{ issue: { milestone: { exists: true }, pull_request: { exists: false } } }'],
  ['issues', '{ issue: { user: { type: [User] }, author_association: [OWNER] } }'],
  ['issues', '{ issue: { locked: [false], comments: [0] } }'],
  ['issues', '{ action: { not_in: [deleted, locked] } }'],
  ['issues', '{ action: [edited], changes: { title: { exists: false } } }'],
  ['issues', '{ repository: { full_name: [Codertocat/Hello-World] } }'],
  ['issues', '{ sender: { login: { not_in: ["dependabot[bot]"] } } }'],
  ['issues', '{ repository: { private: [false], fork: [false], default_branch: [master] } }'],
  ['issue_comment', '{ action: [created], issue: { pull_request: { exists: false } } }'],
  ['issue_comment', '{ action: [created], comment: { author_association: [OWNER, MEMBER] } }'],
  ['issue_comment', '{ comment: { user: { type: [User], login: { not_in: ["github-actions[bot]"] } } } }'],
  ['issue_comment', '{ action: [edited], changes: { body: { from: { exists: true } } } }'],
  ['pull_request', '{ action: [opened, reopened, synchronize] }'],
  ['pull_request', '{ action: [closed], pull_request: { merged: [false] } }'],
  ['pull_request', '{ action: [opened], pull_request: { draft: [false] } }'],
  ['pull_request', '{ pull_request: { base: { ref: [master, main] } } }'],
  ['pull_request', '{ pull_request: { head: { repo: { fork: [false] } } } }'],
  ['pull_request', '{ action: [labeled], pull_request: { labels: { name: [bug] } } }'],
  ['pull_request', '{ action: [review_requested], requested_reviewer: { exists: true } }'],
  ['pull_request', '{ action: [review_requested], requested_reviewer: { login: [octocat] } }'],
  ['pull_request', '{ pull_request: { user: { login: [Codertocat] }, merged_at: [null] } }'],
  ['pull_request', '{ number: [2] }'],
  ['pull_request_review', '{ action: [submitted], review: { state: [approved, commented] } }'],
  ['pull_request_review_comment', '{ action: [created], comment: { path: [README.md] } }'],
  ['push', '{ ref: [refs/heads/main, refs/tags/simple-tag] }'],
  ['push', '{ deleted: [true] }'],
  ['push', '{ created: [false], forced: [false], head_commit: { exists: true } }'],
  ['push', '{ pusher: { name: [Codertocat] }, commits: { modified: { not_in: [README.md] } } }'],
  ['push', '{ before: { not_in: ["0000000000000000000000000000000000000000"] } }'],
  ['create', '{ ref_type: [tag, branch], ref: [simple-tag] }'],
  ['delete', '{ ref_type: [tag], ref: [simple-tag], pusher_type: [user] }'],
  ['release', '{ action: [published, released], release: { draft: [false], prerelease: [false] } }'],
  ['release', '{ release: { tag_name: ["0.0.1"], target_commitish: [master] } }'],
  ['check_run', '{ action: [completed], check_run: { conclusion: [success, failure] } }'],
  ['check_run', '{ check_run: { name: ["Octocoders-linter"], status: { in: [queued, in_progress] } } }'],
  ['check_suite', '{ action: [completed], check_suite: { head_branch: [changes, master] } }'],
  ['workflow_run', '{ action: [completed], workflow_run: { conclusion: { not_in: [failure] } } }'],
  ['workflow_run', '{ workflow_run: { event: [workflow_dispatch, push], head_branch: { exists: true } } }'],
  ['workflow_job', '{ action: [queued], workflow_job: { labels: [self-hosted, gpu, ubuntu-latest] } }'],
  ['workflow_dispatch', '{ inputs: { exists: true } }'],
  ['repository_dispatch', '{ action: [on-demand-test], branch: [master] }'],
  ['deployment', '{ deployment: { environment: [production], task: [deploy] } }'],
  ['deployment_status', '{ deployment_status: { state: [success, failure, error] } }'],
  ['status', '{ state: [success], branches: { name: [master, changes] } }'],
  ['code_scanning_alert', '{ action: [created, reopened], alert: { state: [open] } }'],
  [
    'code_scanning_alert',
    '{ alert: { rule: { severity: [error, note] }, tool: { name: [CodeQL, "GitHub CodeQL"] } } }',
  ],
  [
    'dependabot_alert',
    '{ action: [created], alert: { security_advisory: { severity: [high, critical, moderate, medium] } } }',
  ],
  ['security_advisory', '{ security_advisory: { severity: { not_in: [low] } } }'],
  ['branch_protection_rule', '{ action: [created, edited], rule: { name: [master, main] } }'],
  ['discussion', '{ action: [answered], discussion: { category: { is_answerable: [true] } } }'],
  ['installation', '{ action: [created], installation: { account: { type: [Organization, User] } } }'],
  ['installation_repositories', '{ action: [added], repositories_added: { private: [false] } }'],
  ['member', '{ action: [added], member: { login: { exists: true } } }'],
  ['membership', '{ scope: [team], team: { name: [github] } }'],
  ['milestone', '{ action: [closed], milestone: { open_issues: [0], state: [closed] } }'],
  ['organization', '{ action: [member_added], membership: { role: [member] } }'],
  ['package', '{ package: { package_type: [npm, docker, CONTAINER], name: { exists: true } } }'],
  ['ping', '{ zen: { exists: true }, hook: { active: [true] } }'],
  ['ping', '{ hook_id: { exists: true } }'],
  ['star', '{ action: [created], starred_at: { not_in: [null] } }'],
  ['team', '{ action: [edited], changes: { exists: true } }'],
  ['watch', '{ action: [started] }'],
  ['gollum', '{ pages: { action: [created, edited], page_name: { exists: true } } }'],
  ['label', '{ label: { name: [":bug: Bugfix", bug], default: [false] } }'],
  ['projects_v2_item', '{ projects_v2_item: { content_type: [Issue, DraftIssue, PullRequest] } }'],
  ['repository', '{ action: [renamed], changes: { repository: { name: { from: { exists: true } } } } }'],
  ['sponsorship', '{ sponsorship: { tier: { monthly_price_in_dollars: [5, 500] } } }'],
];

describe('filters as people write them for GitHub', () => {
  test.for(filters)('%s: %s matches, without a warning', ([event, text]) => {
    const filter = payloadFilterSchema.parse(parse(text));
    expect(findFilterWarnings(filter)).toEqual([]);
    const examples = events.find(({ name }) => name === event)?.examples ?? [];
    expect(examples.filter(compilePayloadFilter(filter)).length).toBeGreaterThan(0);
  });
});

// What only the payloads of one kind of event have, and a condition there that excludes.
const kinds: readonly (readonly [kind: string, filter: PayloadFilter, payload: object])[] = [
  ['ping', { hook: { active: { not_in: [false] } } }, { zen: 'Less is more.', hook: { active: true } }],
  ['push', { head_commit: { message: { $not_like: ['wip*'] } } }, { ref: 'refs/heads/a', head_commit: {} }],
  ['issues', { issue: { state: { not_in: ['closed'] } }, comment: { exists: false } }, { issue: {} }],
  ['issue_comment', { issue: {}, comment: { body: { $not_like: ['/*'] } } }, { issue: {}, comment: {} }],
  [
    'pull_request',
    { pull_request: { draft: { not_in: [true] } }, review: { exists: false } },
    { number: 1, pull_request: { draft: false } },
  ],
  ['pull_request_review', { review: { state: { not_in: ['approved'] } } }, { review: {}, pull_request: {} }],
  ['release', { release: { prerelease: { not_in: [true] } } }, { release: { tag_name: 'v1' } }],
  ['check_run', { check_run: { conclusion: { not_in: ['success'] } } }, { check_run: {} }],
  ['workflow_run', { workflow_run: { conclusion: { not_in: ['success'] } } }, { workflow_run: {} }],
  ['deployment', { deployment: { environment: { not_in: ['dev'] } } }, { deployment: {} }],
  ['status', { branches: { name: { not_in: ['main'] } } }, { state: 'success', branches: [{ name: 'dev' }] }],
  ['dependabot_alert', { alert: { state: { not_in: ['fixed'] } } }, { alert: { state: 'open' } }],
  ['discussion', { discussion: { locked: { not_in: [true] } } }, { discussion: {} }],
  ['member', { member: { login: { $not_like: ['*[bot]'] } } }, { member: { login: 'ada' } }],
  ['label', { label: { $none: { name: ['wip'] }, exists: true } }, { label: { name: 'bug' } }],
  ['gollum', { pages: { action: { not_in: ['edited'] } } }, { pages: [{ action: 'created' }] }],
];

describe('one automation for each kind of event, with conditions that only exclude', () => {
  const match = compileFilterIndex(kinds.map(([name, filter]) => ({ name, filter })));

  test.for(kinds)('starts for %s, and for no other kind', ([kind, , payload]) => {
    expect(match({ action: 'created', repository: { name: 'shop' }, sender: {}, ...payload })).toEqual([
      kind,
    ]);
  });
});

test('of the example events of GitHub, none starts an automation for the object that another kind has', () => {
  const objects = [
    'pull_request',
    'issue',
    'release',
    'check_run',
    'workflow_run',
    'deployment',
    'discussion',
  ];
  const filters = objects.map(name => ({ name, filter: { [name]: { surely_missing: { not_in: [true] } } } }));
  const match = compileFilterIndex(filters);
  const started = new Set<string>();
  expect(events.length).toBeGreaterThan(50);
  for (const { examples } of events) {
    for (const example of examples) {
      const fields = example as Readonly<Record<string, unknown>>;
      const names = match(example);
      expect([...names].sort()).toEqual(
        objects.filter(name => typeof fields[name] === 'object' && fields[name] !== null).sort(),
      );
      for (const name of names) started.add(name);
    }
  }
  expect(started.size).toBe(objects.length);
});

test('a filter on any one field and value that GitHub sends gets no warning, but for a few odd texts', () => {
  const filters = events.flatMap(({ examples }) =>
    examples.flatMap(example => [...listFilters(example, [])]),
  );
  expect(filters.length).toBeGreaterThan(60_000);
  const warned = filters.flatMap(filter => findFilterWarnings(filter).map(({ path }) => path.join('.')));
  expect([...new Set(warned)].sort()).toEqual([
    'alert.security_advisory.description.0',
    'hook.events.0',
    'marketplace_purchase.plan.bullets.0',
    'previous_marketplace_purchase.plan.bullets.0',
  ]);
});

/** A filter for each value in a payload. */
function* listFilters(
  value: unknown,
  path: readonly string[],
): Generator<ReturnType<typeof payloadFilterSchema.parse>> {
  if (Array.isArray(value)) for (const element of value) yield* listFilters(element, path);
  else if (typeof value === 'object' && value !== null)
    for (const [key, field] of Object.entries(value)) yield* listFilters(field, [...path, key]);
  else if (path.length > 0) {
    const filter = path.reduceRight((below: unknown, key) => ({ [key]: below }), [value]);
    yield payloadFilterSchema.parse(filter);
  }
}
