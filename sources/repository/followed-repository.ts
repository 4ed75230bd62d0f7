import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';
import { parseDurationMs } from '../../schema/definitions/duration.ts';
import { type ParsedFile, parseFile } from '../../schema/definitions/parse-file.ts';
import { findMistakes, type Mistake } from '../../schema/definitions/shape-mistakes.ts';
import { namePattern, nameRule } from '../../schema/name.ts';
import { secretNameShape } from '../../schema/secret-name-shape.ts';
import { parseRepository, type Repository } from './repository.ts';

/** @limit Time between two looks at a branch, in seconds, where the operator does not say: git hosts tolerate it, people hardly notice it. */
export const reconcileSeconds = 30;
/** @limit Shortest interval between two looks at a branch, in seconds: each starts a git process. */
const reconcileSecondsMin = 1;
/** @limit Longest interval between two looks at a branch, in seconds (a day): a longer one is a mistake. */
const reconcileSecondsMax = 24 * 3600;

/** What the operator says of the repository that a factory follows. */
const followedRepositoryShape = z
  .strictObject({
    factory: z
      .string()
      .regex(namePattern, { error: `use ${nameRule}` })
      .default('default')
      .describe('The factory that follows it.'),
    repository: z.string().describe('URL of the repository, or the absolute path of one on this machine.'),
    branch: z.string().default('main').describe('The production branch: its tip is what is applied.'),
    path: z.string().default('.').describe('Where the definitions lie in the repository.'),
    interval: z
      .string()
      .default(`${reconcileSeconds}s`)
      .superRefine((text, context) => {
        const seconds = (parseDurationMs(text) ?? 0) / 1_000;
        if (seconds >= reconcileSecondsMin && seconds <= reconcileSecondsMax) return;
        const message = `"${text}" is not an interval`;
        const hint = `write a time from ${reconcileSecondsMin}s to ${reconcileSecondsMax / 3600}h, as in 30s or 5m`;
        addMistake(context, [], message, { code: 'definition/value', hint });
      })
      .describe('Time from one look at the branch to the next.'),
    credentialSecret: secretNameShape
      .optional()
      .describe('Team secret with the password or access token for a repository over HTTPS.'),
    credentialUsername: z
      .string()
      .default('x-access-token')
      .describe('User name that goes with it; hosts take any, or name one for access tokens.'),
    trigger: z
      .string()
      .refine(name => isWebhookOfFactory(name), {
        error: "write a webhook's name, or factory/name for a webhook of another factory",
      })
      .optional()
      .describe('Webhook whose accepted deliveries, a push each, are looked into at once.'),
  })
  .superRefine(({ repository, branch, path, credentialSecret }, context) => {
    const parsed = parseRepository(repository, branch, path);
    if ('problem' in parsed) {
      const { option, message, hint } = parsed.problem;
      addMistake(context, [option], message, { code: 'definition/value', hint });
    } else if (credentialSecret !== undefined && !/^https?$/.test(parsed.repository.transport)) {
      const hint = "leave it out, and use ssh's own keys (GIT_SSH_COMMAND)";
      const message = 'a credential is sent over HTTPS alone';
      addMistake(context, ['credentialSecret'], message, { code: 'definition/value', hint });
    }
  });

function isWebhookOfFactory(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every(part => namePattern.test(part));
}

export type FollowedRepository = z.output<typeof followedRepositoryShape>;

/** The repositories that factories follow, one each. */
export const followedRepositoriesShape = z
  .array(followedRepositoryShape)
  .default([])
  .superRefine((repositories, context) => {
    for (const [index, { factory }] of repositories.entries()) {
      if (repositories.findIndex(other => other.factory === factory) === index) continue;
      const hint = 'a factory follows one branch of one repository';
      const message = `the factory ${factory} follows another repository already`;
      addMistake(context, [index, 'factory'], message, { code: 'definition/value', hint });
    }
  });

// What else stands in the file is the daemon's business.
const configurationShape = z.object({ repositories: followedRepositoriesShape });

/** The repositories that the daemon's configuration file names. */
export function parseFollowedRepositories(
  file: string,
  bytes: Uint8Array,
): ParsedFile<{ readonly repositories: readonly FollowedRepository[] }> {
  return parseFile(configurationShape, file, bytes);
}

/** What an operator named by flags, or what is wrong with it. */
export function checkFollowedRepository(
  given: object,
): { readonly followed: FollowedRepository } | { readonly mistakes: readonly Mistake[] } {
  const result = followedRepositoryShape.safeParse(given);
  if (result.success) return { followed: result.data };
  return { mistakes: findMistakes(result.error, followedRepositoryShape, given) };
}

/** The branch that a factory follows, as the operator named it. */
export interface FollowedBranch {
  readonly repository: Repository;
  /** Sent over HTTPS in place of what git's own credential helpers know. */
  readonly credential?: RepositoryCredential | undefined;
}

export interface RepositoryCredential {
  readonly username: string;
  /** The team secret whose value is the password or access token. */
  readonly secretName: string;
}

/** The branch that was named, ready to be reconciled. */
export function toFollowedBranch(followed: FollowedRepository): FollowedBranch {
  const { credentialUsername: username, credentialSecret: secretName } = followed;
  const parsed = parseRepository(followed.repository, followed.branch, followed.path);
  if ('problem' in parsed) throw new Error(`not checked: ${parsed.problem.message}`);
  return {
    repository: parsed.repository,
    ...(secretName !== undefined && { credential: { username, secretName } }),
  };
}
