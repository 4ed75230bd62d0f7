import type { WebhookSender } from '../schema/definitions/sender-keys.ts';
import { createGitHubClient, type GitHubTarget } from './github-client.ts';
import { createGitLabClient, type GitLabSecretKind, type GitLabTarget } from './gitlab-client.ts';
import type { ProviderClient } from './provider-client.ts';

export interface ClientOptions {
  /** Whether the server at the URL of the sender may have a private address, or no https. */
  readonly isTrusted: boolean;
  /** GitLab: which of its two secrets the hook gets; `signing-token` for the scheme gitlab-signing-token. */
  readonly secretKind?: GitLabSecretKind | undefined;
  /** Ends the requests. */
  readonly stopping: AbortSignal;
  readonly nowMs: () => number;
}

/**
 * Creates the client for the API of the provider that a definition names. `credential` is a token with the rights to read
 * hooks, and to write them for changes and to send again; for a GitHub App, its private key in PEM. Nothing is asked yet.
 */
export function createProviderClient(
  sender: WebhookSender,
  credential: string,
  { secretKind, ...options }: ClientOptions,
): ProviderClient {
  const given = { ...options, url: sender.url, credential };
  return sender.provider === 'github'
    ? createGitHubClient({ ...given, target: toGitHubTarget(sender) })
    : createGitLabClient({ ...given, target: toGitLabTarget(sender), secretKind });
}

/** A definition names exactly one place, as its shape ensures. */
function toGitHubTarget({ repository, organization, app = 0 }: WebhookSender): GitHubTarget {
  if (repository !== undefined) return { repository };
  return organization === undefined ? { app } : { organization };
}

function toGitLabTarget({ project, group = 0 }: WebhookSender): GitLabTarget {
  return project === undefined ? { group } : { project };
}
