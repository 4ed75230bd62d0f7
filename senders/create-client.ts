import { createGitHubClient, type GitHubTarget } from './github-client.ts';
import { createGitLabClient, type GitLabSecretKind, type GitLabTarget } from './gitlab-client.ts';
import type { ProviderClient } from './provider-client.ts';

/** Where the hooks of a webhook are, as its definition says. */
export type HookSender =
  | ({ readonly provider: 'github'; readonly url?: string | undefined } & GitHubTarget)
  | ({ readonly provider: 'gitlab'; readonly url?: string | undefined } & GitLabTarget);

export interface ClientOptions {
  /** URLs of servers that may have a private address, or no https: each counts for its host and port. */
  readonly trustedUrls: readonly string[];
  /** What the secret of the hook is, for GitLab: `signing-token` for the scheme gitlab-signing-token. */
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
  sender: HookSender,
  credential: string,
  options: ClientOptions,
): ProviderClient {
  const { trustedUrls, secretKind, stopping, nowMs } = options;
  const { url } = sender;
  const isTrusted = url !== undefined && trustedUrls.some(trusted => originOf(trusted) === originOf(url));
  const given = { url, credential, isTrusted, stopping, nowMs };
  return sender.provider === 'github'
    ? createGitHubClient({ ...given, target: sender })
    : createGitLabClient({ ...given, target: sender, secretKind });
}

/** The request header that names the event of a delivery, by provider. The events of hooks are values of it. */
export const eventHeaderOf = { github: 'X-GitHub-Event', gitlab: 'X-Gitlab-Event' } as const;

function originOf(url: string): string {
  return new URL(url).origin;
}
