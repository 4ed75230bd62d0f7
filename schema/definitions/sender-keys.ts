import { z } from 'zod';
import { joinWithOr } from '../text/suggestion.ts';
import { addMistake, type KeyRule } from './add-mistake.ts';
import { secretNameShape } from './value-shapes.ts';

/** The keys by which each provider names where its hook is; exactly one of them is set. */
const targetKeys = {
  github: ['repository', 'organization', 'app'],
  gitlab: ['project', 'group'],
} as const;

/** The signature schemes whose deliveries each provider sends. */
const schemesOf = {
  github: ['github'],
  gitlab: ['gitlab-signing-token', 'gitlab-token'],
} as const;

export const senderProviders = ['github', 'gitlab'] as const;

export type SenderProvider = (typeof senderProviders)[number];

/** @limit Longest name of a repository, project, group or organization, in characters: paths of nested groups have up to 255. */
const targetCharsMax = 300;
/** @limit Longest URL of a self-managed provider, in characters. */
const providerUrlCharsMax = 300;

const named = (pattern: RegExp, error: string) =>
  z.string().max(targetCharsMax).regex(pattern, { error }).meta({ pattern: pattern.source });

const id = z.int().min(1);

// docs.github.com/en/repositories: letters, digits, `-`, `_` and `.`; an owner has no `_` or `.`, but a login of an
// enterprise ends with `_shortcode`.
const repositoryName = named(
  /^[A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+$/,
  'use OWNER/NAME, as in acme/shop',
);
const organizationName = named(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'use the name in its URL, as in acme');
// docs.gitlab.com/user/reserved_names: paths of groups and projects.
const projectPath = named(
  /^[A-Za-z0-9_.][A-Za-z0-9_.-]*(\/[A-Za-z0-9_.][A-Za-z0-9_.-]*)+$/,
  'use the path in its URL, as in acme/shop, or its ID',
);
const groupPath = named(
  /^[A-Za-z0-9_.][A-Za-z0-9_.-]*(\/[A-Za-z0-9_.][A-Za-z0-9_.-]*)*$/,
  'use the path in its URL, as in acme, or its ID',
);

/** The address of a self-managed provider. */
export const providerUrl = z
  .string()
  .max(providerUrlCharsMax)
  .superRefine((text, context) => {
    if (isProviderUrl(text)) return;
    addMistake(context, [], 'not a valid URL of a provider', {
      code: 'definition/value',
      hint: 'write its address without user, password or query, as in https://git.example.com',
    });
  })
  .meta({ examples: ['https://git.example.com'] });

function isProviderUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** The key `sender` of a webhook: where its provider has the hook that delivers to it, and how to ask the provider. */
export const senderShape = z
  .strictObject({
    provider: z
      .enum(senderProviders)
      .describe('The provider that delivers.')
      .meta({ enumDescriptions: ['GitHub, or GitHub Enterprise', 'GitLab'] }),
    repository: repositoryName
      .optional()
      .describe('GitHub: the repository that has the hook, as OWNER/NAME.'),
    organization: organizationName.optional().describe('GitHub: the organization that has the hook.'),
    app: id.optional().describe('GitHub: the ID of the GitHub App whose webhook it is.'),
    project: z.union([projectPath, id]).optional().describe('GitLab: the project that has the hook.'),
    group: z.union([groupPath, id]).optional().describe('GitLab: the group that has the hook.'),
    hookId: id
      .optional()
      .describe('The ID of the hook at the provider. Default: the hook whose URL is the ingress URL.'),
    url: providerUrl
      .optional()
      .describe('The address of a self-managed provider. Default: github.com or gitlab.com.'),
    credentialSecret: secretNameShape
      .describe("The team secret that holds the token for the provider's API, or the private key of an app.")
      .meta({ examples: ['GITHUB_HOOKS_TOKEN'] }),
    recover: z
      .boolean()
      .optional()
      .describe(
        'Whether the daemon asks the provider again for the deliveries that it missed. Default: false.',
      ),
  })
  .superRefine((sender, context) => {
    const own = targetKeys[sender.provider];
    const allowed: readonly string[] = own;
    for (const key of Object.values(targetKeys).flat()) {
      if (sender[key] === undefined || allowed.includes(key)) continue;
      const hint = `write ${joinWithOr([...own])}`;
      const params = { code: 'definition/value', hint, atKey: true } as const;
      addMistake(context, [key], `a hook of ${sender.provider} has no ${key}`, params);
    }
    const set = own.filter(key => sender[key as keyof typeof sender] !== undefined);
    if (set.length === 1) return;
    const message =
      set.length === 0
        ? 'the sender does not say where its hook is'
        : `a hook is in one place, not ${set.length}`;
    const hint = `write exactly one of ${own.join(', ')}`;
    addMistake(context, [], message, { code: 'definition/value', hint });
  });

/** Where the provider of a webhook has its hook. */
export type WebhookSender = Readonly<z.output<typeof senderShape>>;

interface Sending {
  readonly authMode?: unknown;
  readonly signatureScheme?: unknown;
  readonly sender?: { readonly provider?: unknown; readonly credentialSecret?: unknown };
}

function findSchemes({ sender }: Sending): readonly string[] | undefined {
  const provider = sender?.provider;
  return provider === 'github' || provider === 'gitlab' ? schemesOf[provider] : undefined;
}

/** What a `sender` needs of the other keys. */
export const senderRules: readonly KeyRule[] = [
  {
    holds: webhook => {
      const { authMode, signatureScheme, sender }: Sending = webhook;
      const schemes = findSchemes({ sender });
      return !schemes || (authMode === 'signature' && schemes.some(scheme => scheme === signatureScheme));
    },
    key: 'sender',
    error: "a sender needs its provider's signature scheme",
    params: {
      code: 'webhook/sender-scheme',
      hint: 'write authMode: signature, and signatureScheme: github, gitlab-token or gitlab-signing-token',
      atKey: true,
    },
  },
  {
    holds: ({ sender, deliveryIdHeader, deliveryIdField, identity }) =>
      sender === undefined || [deliveryIdHeader, deliveryIdField, identity].every(key => key === undefined),
    key: 'sender',
    error: "with a sender, the provider's own ID identifies deliveries",
    params: {
      code: 'webhook/sender-identity',
      hint: 'remove deliveryIdHeader, deliveryIdField or identity, so that missed deliveries can be found in the log of the provider',
      atKey: true,
    },
  },
  {
    holds: ({ sender, secretName }) =>
      secretName === undefined || (sender as Sending['sender'])?.credentialSecret !== secretName,
    key: 'sender',
    error: 'credentialSecret and secretName are the same team secret',
    params: {
      code: 'definition/value',
      hint: "the provider's API token is another secret than the one that signs deliveries: name two team secrets",
      atKey: true,
    },
  },
];

/** Names the place of a hook, for people: `github repository acme/shop`. */
export function describeSender({ provider, ...sender }: WebhookSender): string {
  const key = [...targetKeys.github, ...targetKeys.gitlab].find(key => sender[key] !== undefined);
  const at = sender.url === undefined ? '' : ` at ${sender.url}`;
  return `${provider} ${key} ${key === undefined ? '' : sender[key]}${at}`;
}
