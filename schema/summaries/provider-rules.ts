/**
 * How the deliveries of a provider are titled. Paths are dotted, with numbers for elements. `a|b` stands for the first of
 * them that has a value.
 */
export interface ProviderRule {
  /** The signature schemes of the provider, also known by their event headers. Without a scheme, `shape` must fit. */
  readonly schemes: readonly string[];
  /** Paths that together no other sender has. */
  readonly shape?: readonly string[];
  /** A path that the payload must have, if a provider has several rules: the first that fits counts. */
  readonly has?: string;
  /** The type of the event; otherwise an event header names it, or a field with a usual name. */
  readonly event?: string;
  /** What happened to it, if that is not `action`. */
  readonly action?: string;
  /**
   * The parts of the text: each a template, or several of which the first counts that has all of its values. A value may have
   * a format, such as `{ref:branch}`: see `valueFormats`.
   */
  readonly text: readonly (string | readonly string[])[];
}

const github = {
  schemes: ['github', 'gitea', 'forgejo', 'gogs'],
  shape: ['repository.full_name', 'sender.login'],
} as const;
const gitlab = {
  schemes: ['gitlab-signing-token', 'gitlab-token'],
  shape: ['object_kind', 'project.path_with_namespace'],
  event: 'object_kind',
  action: 'object_attributes.action',
} as const;

const githubNumber = 'pull_request.number|issue.number|discussion.number|number';
const githubRepository = 'repository.full_name|pull_request.base.repo.full_name|organization.login';
const githubSubject = [`{${githubRepository}}#{${githubNumber}}`, `{${githubRepository}}`];
const stripeAmount = ['amount', 'amount_total', 'amount_due', 'total', 'plan.amount']
  .map(field => `data.object.${field}:money`)
  .join('|');

/** The rules, in the order in which they are tried. */
export const providerRules: readonly ProviderRule[] = [
  {
    ...github,
    has: 'commits',
    text: [
      `{${githubRepository}} {ref:branch}`,
      ['{commits:commits} by {pusher.name|pusher.login|pusher.username|sender.login}', '{commits:commits}'],
    ],
  },
  ...['check_run', 'workflow_run', 'workflow_job', 'check_suite'].map(run => ({
    ...github,
    has: run,
    text: [
      `{${githubRepository}}`,
      `{${run}.name|${run}.app.name}`,
      `{${run}.conclusion|${run}.head_branch|${run}.status}`,
    ],
  })),
  { ...github, has: 'comment', text: [githubSubject, '{comment.user.login}: “{comment.body}”'] },
  { ...github, has: 'review', text: [githubSubject, '{review.user.login}: {review.state}'] },
  {
    ...github,
    has: 'deployment',
    text: [githubSubject, '{deployment.environment}', '{deployment_status.state}'],
  },
  {
    ...github,
    text: [
      githubSubject,
      [
        '{pull_request.title|issue.title|discussion.title|release.name|release.tag_name}',
        '{milestone.title|label.name|alert.rule.description|alert.security_advisory.summary|context|ref:branch}',
        '{team.name|member.login|forkee.full_name|security_advisory.summary|installation.account.login}',
      ],
      '{state}',
    ],
  },
  {
    ...gitlab,
    has: 'commits',
    text: [
      '{project.path_with_namespace} {ref:branch}',
      ['{total_commits_count:commits} by {user_username|user_name}', '{commits:commits}'],
    ],
  },
  {
    ...gitlab,
    has: 'object_attributes.note',
    text: [
      [
        '{project.path_with_namespace}!{merge_request.iid}',
        '{project.path_with_namespace}#{issue.iid}',
        '{project.path_with_namespace}',
      ],
      '{user.username}: “{object_attributes.note}”',
    ],
  },
  {
    ...gitlab,
    has: 'object_attributes.source_branch',
    text: ['{project.path_with_namespace}!{object_attributes.iid}', '{object_attributes.title}'],
  },
  {
    ...gitlab,
    has: 'object_attributes.title',
    text: ['{project.path_with_namespace}#{object_attributes.iid}', '{object_attributes.title}'],
  },
  {
    ...gitlab,
    text: [
      [
        '{project.path_with_namespace|project_name} {object_attributes.ref|ref:branch}',
        '{project.path_with_namespace}',
      ],
      '{build_name|name|tag}',
      '{object_attributes.status|build_status|status}',
    ],
  },
  {
    schemes: ['bitbucket'],
    text: [
      [
        '{repository.full_name}#{pullrequest.id|issue.id}',
        '{repository.full_name} {push.changes.0.new.name}',
      ],
      '{pullrequest.title|issue.title|actor.display_name}',
    ],
  },
  { schemes: ['azure-devops'], event: 'eventType', text: ['{message.text}'] },
  {
    schemes: ['vercel'],
    text: ['{payload.deployment.name|payload.name|payload.project.name}', '{payload.target}'],
  },
  { schemes: ['heroku'], event: 'resource', text: ['{data.app.name|data.name}', '{data.status}'] },
  {
    schemes: ['terraform-cloud'],
    event: 'notifications.0.trigger',
    text: ['{workspace_name}', '{run_message|notifications.0.message}'],
  },
  {
    schemes: ['circleci'],
    text: ['{project.slug}', '{workflow.name}', '{job.name}', '{workflow.status|job.status}'],
  },
  {
    schemes: ['buildkite'],
    text: [
      ['{pipeline.slug} {build.branch} #{build.number}', '{pipeline.slug}'],
      '{job.state|build.state}',
      '{build.message}',
    ],
  },
  {
    schemes: ['sentry'],
    shape: ['installation.uuid', 'actor', 'data'],
    text: [
      '{data.issue.project.slug|data.event.project_slug|data.error.project_slug}',
      '{data.issue.title|data.event.title|data.error.title|data.description_title|data.triggered_rule}',
    ],
  },
  {
    schemes: ['pagerduty'],
    shape: ['event.event_type', 'event.resource_type', 'event.data'],
    event: 'event.event_type',
    text: [
      '{event.data.title|event.data.incident.summary|event.data.summary}',
      '{event.data.service.summary}',
    ],
  },
  { schemes: ['grafana', 'grafana-timestamp'], event: 'status', text: ['{title|ruleName}', '{message}'] },
  {
    schemes: ['stripe'],
    shape: ['object', 'api_version', 'livemode', 'data.object.object'],
    text: [
      '{data.object.id:id}',
      `{${stripeAmount}}`,
      '{data.object.reason|data.object.failure_message|data.object.description|data.object.status}',
    ],
  },
  {
    schemes: ['linear'],
    shape: ['webhookTimestamp', 'webhookId', 'organizationId'],
    event: 'type',
    text: [
      ['{data.identifier}', '{data.issue.identifier}'],
      '{data.title|data.name|data.body}',
      '{data.state.name}',
    ],
  },
  {
    schemes: ['jira'],
    shape: ['webhookEvent', 'issue.key'],
    event: 'webhookEvent',
    text: ['{issue.key}', '{issue.fields.summary}', '{issue.fields.status.name}'],
  },
  {
    schemes: ['asana'],
    event: 'events.0.resource.resource_type',
    action: 'events.0.action',
    text: ['{events.0.parent.name|events.0.resource.name}', '{events.0.change.field}'],
  },
  {
    schemes: ['trello'],
    event: 'action.type',
    text: ['{action.data.board.name}', '{action.data.card.name|action.data.list.name}'],
  },
  {
    schemes: ['shopify'],
    text: ['{name|title}', '{total_price|price} {currency}', '{financial_status|status}'],
  },
  {
    schemes: ['slack', 'slack-forms'],
    shape: ['team_id', 'api_app_id', 'event.type'],
    event: 'event.type|type|command',
    text: [
      '{event.channel|event.item.channel|channel.name|channel_name}',
      '{event.text|event.reaction|actions.0.action_id|text|user.username}',
    ],
  },
  { schemes: ['typeform'], text: ['{form_response.definition.title}', '{form_response.submitted_at}'] },
  {
    schemes: ['okta'],
    event: 'data.events.0.eventType',
    text: ['{data.events.0.displayMessage}', '{data.events.0.outcome.result}'],
  },
  { schemes: ['sendgrid'], event: '0.event', text: ['{0.reason|0.sg_message_id}'] },
  { schemes: ['hubspot'], event: '0.subscriptionType', text: ['{0.objectId}', '{0.propertyName}'] },
  { schemes: ['twitch'], text: ['{event.broadcaster_user_name}', '{event.title|event.user_name}'] },
  {
    schemes: ['discourse'],
    text: ['{topic.title|post.topic_title}', '{post.username|topic.created_by.username|user.username}'],
  },
];
