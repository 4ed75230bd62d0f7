import { z } from 'zod';
import { addMistake } from '../../schema/definitions/add-mistake.ts';
import { findMistakes, type Mistake } from '../../schema/definitions/shape-mistakes.ts';
import { durationShape, nameShape, secretNameShape } from '../../schema/definitions/value-shapes.ts';
import { namePattern } from '../../schema/names.ts';
import { parseDurationMs } from '../../schema/time-units.ts';
import { parseRepository, type Repository } from './repository.ts';

/** @limit Default interval of reconciles, in seconds: git hosts tolerate it, and people hardly notice it. */
const reconcileSeconds = 30;
/** @limit Shortest interval of reconciles, in seconds: each starts a git process. */
const reconcileSecondsMin = 1;
/** @limit Longest interval of reconciles, in seconds (a day): a longer one is a mistake. */
const reconcileSecondsMax = 24 * 3600;

/** The settings that say where a repository is and how to log in there. */
export const repositoryFields = {
  repository: z.string().describe('URL of the repository, or its absolute path on this machine.'),
  credentialSecret: secretNameShape
    .optional()
    .describe('Team secret that holds the password or access token for HTTPS.'),
  credentialUsername: z
    .string()
    .default('x-access-token')
    .describe('User name for HTTPS. Most hosts accept any name with an access token.'),
};

/** Reports a URL, branch or path that git cannot be called with, and a credential that would not be sent. */
export function checkRepository(
  { repository, branch = 'main', path = '.', credentialSecret }: GivenRepository,
  context: z.RefinementCtx,
): void {
  const parsed = parseRepository(repository, branch, path);
  if ('mistake' in parsed) {
    const { option, message, hint } = parsed.mistake;
    addMistake(context, [option], message, { code: 'definition/value', hint });
  } else if (credentialSecret !== undefined && !/^https?$/.test(parsed.repository.transport)) {
    const hint = 'remove it and use SSH keys (GIT_SSH_COMMAND)';
    const message = 'credentials are sent only over HTTPS';
    addMistake(context, ['credentialSecret'], message, { code: 'definition/value', hint });
  }
}

interface GivenRepository {
  readonly repository: string;
  readonly branch?: string;
  readonly path?: string;
  readonly credentialSecret?: string | undefined;
}

/** The operator's settings of the repository that a factory follows. */
const followedRepositoryShape = z
  .strictObject({
    factory: nameShape.default('default').describe('Factory that follows the repository.'),
    ...repositoryFields,
    branch: z.string().default('main').describe('Production branch, whose tip is applied.'),
    path: z.string().default('.').describe('Folder of the definitions in the repository.'),
    interval: durationShape('interval', reconcileSecondsMin * 1_000, reconcileSecondsMax * 1_000)
      .default(`${reconcileSeconds}s`)
      .describe('Time between two reconciles.'),
    trigger: z
      .string()
      .refine(name => isWebhookOfFactory(name), {
        error: "write a webhook's name, or factory/name for a webhook of another factory",
      })
      .optional()
      .describe('Webhook whose accepted deliveries start a reconcile at once.'),
  })
  .superRefine(checkRepository);

function isWebhookOfFactory(text: string): boolean {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every(part => namePattern.test(part));
}

export type FollowedRepository = z.output<typeof followedRepositoryShape>;

/** The repositories that factories follow, one for each factory. */
export const followedRepositoriesShape = z
  .array(followedRepositoryShape)
  .default([])
  .superRefine((repositories, context) => {
    for (const [index, { factory }] of repositories.entries()) {
      if (repositories.findIndex(other => other.factory === factory) === index) continue;
      const hint = 'remove one of them, or name another factory';
      const message = `the factory ${factory} already follows another repository`;
      addMistake(context, [index, 'factory'], message, { code: 'definition/value', hint });
    }
  });

/** Checks settings that an operator gave as options. */
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
  /** The credential that is sent over HTTPS instead of one from git's own helpers. */
  readonly credential?: RepositoryCredential | undefined;
}

export interface RepositoryCredential {
  readonly username: string;
  /** The team secret whose value is the password or access token. */
  readonly secretName: string;
}

/** The time between two reconciles, in ms. */
export function getIntervalMs({ interval }: Pick<FollowedRepository, 'interval'>): number {
  return parseDurationMs(interval) ?? reconcileSeconds * 1_000;
}

/** Converts checked settings to the branch that they describe. */
export function toFollowedBranch(
  followed: GivenRepository & { readonly credentialUsername: string },
): FollowedBranch {
  const {
    credentialUsername: username,
    credentialSecret: secretName,
    branch = 'main',
    path = '.',
  } = followed;
  const parsed = parseRepository(followed.repository, branch, path);
  if ('mistake' in parsed) throw new Error(`the settings were not checked: ${parsed.mistake.message}`);
  return {
    repository: parsed.repository,
    ...(secretName !== undefined && { credential: { username, secretName } }),
  };
}
