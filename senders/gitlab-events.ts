/** What an event of a GitLab hook is called, and which hooks have it. */
interface GitLabEvent {
  /** Its attribute in the API. */
  readonly key: string;
  /** Its name in the header `X-Gitlab-Event`. */
  readonly header: string;
  /** The hooks for which the API documents the attribute. */
  readonly of: 'all' | 'projects' | 'groups';
  /** Whether the API can send a sample of it. */
  readonly hasSample: boolean;
}

/**
 * The events of GitLab's hooks: the attributes and samples as docs.gitlab.com/api/project_webhooks and …/api/group_webhooks
 * list them, the headers as docs.gitlab.com/user/project/integrations/webhook_events has them, 2026-11-27. GitLab makes the
 * header of the name of the trigger (app/services/web_hook_service.rb), which is nearly the attribute.
 */
export const gitLabEvents: readonly GitLabEvent[] = [
  { key: 'push_events', header: 'Push Hook', of: 'all', hasSample: true },
  { key: 'tag_push_events', header: 'Tag Push Hook', of: 'all', hasSample: true },
  { key: 'issues_events', header: 'Issue Hook', of: 'all', hasSample: true },
  { key: 'confidential_issues_events', header: 'Confidential Issue Hook', of: 'all', hasSample: true },
  { key: 'merge_requests_events', header: 'Merge Request Hook', of: 'all', hasSample: true },
  { key: 'note_events', header: 'Note Hook', of: 'all', hasSample: true },
  { key: 'confidential_note_events', header: 'Confidential Note Hook', of: 'all', hasSample: false },
  { key: 'job_events', header: 'Job Hook', of: 'all', hasSample: true },
  { key: 'pipeline_events', header: 'Pipeline Hook', of: 'all', hasSample: true },
  { key: 'wiki_page_events', header: 'Wiki Page Hook', of: 'all', hasSample: true },
  { key: 'deployment_events', header: 'Deployment Hook', of: 'all', hasSample: false },
  { key: 'feature_flag_events', header: 'Feature Flag Hook', of: 'all', hasSample: false },
  { key: 'releases_events', header: 'Release Hook', of: 'all', hasSample: true },
  { key: 'milestone_events', header: 'Milestone Hook', of: 'all', hasSample: true },
  { key: 'emoji_events', header: 'Emoji Hook', of: 'all', hasSample: true },
  { key: 'resource_access_token_events', header: 'Resource Access Token Hook', of: 'all', hasSample: true },
  {
    key: 'resource_deploy_token_events',
    header: 'Resource Deploy Token Hook',
    of: 'projects',
    hasSample: true,
  },
  { key: 'vulnerability_events', header: 'Vulnerability Hook', of: 'projects', hasSample: false },
  { key: 'member_events', header: 'Member Hook', of: 'groups', hasSample: false },
  { key: 'project_events', header: 'Project Hook', of: 'groups', hasSample: false },
  { key: 'subgroup_events', header: 'Subgroup Hook', of: 'groups', hasSample: false },
];
