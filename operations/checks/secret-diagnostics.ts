import { isDeepStrictEqual } from 'node:util';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import type { Mistake } from '../../schema/definitions/shape-mistakes.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic, DiagnosticCode } from '../../schema/diagnostics.ts';
import { hasSecret } from '../../schema/names.ts';
import { didYouMean } from '../../schema/text/suggestion.ts';
import type { SignatureDescription } from '../../signatures/description.ts';
import { checkSecret, deriveKeys, selectForm } from '../../signatures/key.ts';
import { describeScheme, isStandardWebhooks, schemeIds } from '../../signatures/schemes.ts';
import type { Definitions } from '../../sources/definitions.ts';
import type { TeamSecret, TeamSecrets } from '../../store/ports/team-secrets.ts';

/** @limit Shortest secret without a warning, in bytes: 128 random bits cannot be guessed. */
const secretBytesMin = 16;
/** @limit Shortest token in a URL, in characters: shorter ones could be guessed. */
const urlTokenCharsMin = 16;
/** @limit Longest token in a URL, in characters: senders and proxies limit the length of URLs. */
const urlTokenCharsMax = 256;

// RFC 3986 section 2.3: the unreserved characters, which need no encoding anywhere in a URL.
const urlSafe = /^[A-Za-z0-9_~.-]+$/;
// RFC 9110 section 5.5: the characters of a field value; white space at its ends would be stripped.
const headerSafe = /^[\x21-\x7e\x80-\uffff](?:[\x20-\x7e\x80-\uffff]*[\x21-\x7e\x80-\uffff])?$/;

export type SecretWebhook = WebhookDefinition & { readonly secretName: string };

/** Checks the team secrets that the webhooks name. No diagnostic shows a value. */
export function findSecretDiagnostics(
  definitions: Pick<Definitions, 'webhooks' | 'locate'>,
  secrets: ReadonlyMap<string, TeamSecret>,
  knownNames: readonly string[],
): Diagnostic[] {
  return definitions.webhooks.filter(hasSecret).flatMap((webhook): Diagnostic[] => {
    const names = leaveOutOthers(webhook, definitions.webhooks, knownNames);
    const found = findSecretMistake(webhook, secrets.get(webhook.secretName), names);
    const short = found ? undefined : findShortSecret(webhook, secrets.get(webhook.secretName));
    const place = definitions.locate('webhook', webhook.name, ['secretName']);
    if (found) return [{ ...found, severity: 'error', ...place }];
    return short ? [{ ...short, severity: 'warning', ...place }] : [];
  });
}

/** Checks the team secrets by which providers are asked. A value that is missing yet is found when a provider is asked. */
export function findCredentialDiagnostics(
  { webhooks, locate }: Pick<Definitions, 'webhooks' | 'locate'>,
  secrets: ReadonlyMap<string, TeamSecret>,
  knownNames: readonly string[],
): Diagnostic[] {
  return webhooks.flatMap(({ name, sender }): Diagnostic[] => {
    const secretName = sender?.credentialSecret;
    if (secretName === undefined) return [];
    const found = findUnusable(
      secretName,
      secrets.get(secretName),
      knownNames,
      `hookmill secrets set ${secretName}`,
    );
    const place = locate('webhook', name, ['sender', 'credentialSecret']);
    return found ? [{ ...found, severity: 'error', ...place }] : [];
  });
}

/**
 * Leaves out the names of secrets of other providers, which the webhook certainly does not mean: names that begin with
 * another provider's, and secrets that only webhooks with other signature schemes use.
 */
function leaveOutOthers(
  webhook: SecretWebhook,
  webhooks: readonly WebhookDefinition[],
  names: readonly string[],
): readonly string[] {
  const { secretName, signatureScheme } = webhook;
  const own =
    findProvider(secretName) ?? (typeof signatureScheme === 'string' && findProvider(signatureScheme));
  return names.filter(name => {
    const uses = webhooks.filter(other => other.secretName === name);
    const isOfOthers =
      uses.length > 0 && !uses.some(other => isDeepStrictEqual(other.signatureScheme, signatureScheme));
    const provider = findProvider(name);
    return !isOfOthers && (!own || provider === undefined || provider === own);
  });
}

const providers = new Set(schemeIds.map(id => id.split('-', 1)[0]));

/** The first word of a name or of a scheme's ID, if it is a provider. */
function findProvider(name: string): string | undefined {
  const [word] = name.toLowerCase().split(/[-_.]/, 1);
  return providers.has(word) ? word : undefined;
}

/**
 * Says that a value could be guessed, because it is short, or each key that the scheme derives from it; undefined if it
 * could not. To be read after the name of the value.
 */
export function describeShortSecret(value: string, scheme?: SignatureDescription): string | undefined {
  const derived = scheme && deriveKeys(selectForm(scheme, value), value);
  // A public key has no such size, and cannot be guessed.
  const bytes = derived?.ok
    ? Math.max(...derived.keys.map(({ symmetricKeySize = secretBytesMin }) => symmetricKeySize))
    : Buffer.byteLength(value);
  if (bytes >= secretBytesMin) return undefined;
  return `has only ${bytes} byte${bytes === 1 ? '' : 's'}, so somebody could guess it`;
}

function findShortSecret(
  { secretName, signatureScheme }: SecretWebhook,
  secret: TeamSecret | undefined,
): SecretMistake | undefined {
  const description = signatureScheme ? describeScheme(signatureScheme) : undefined;
  const short = secret?.value && describeShortSecret(secret.value.text, description);
  if (short === undefined) return undefined;
  return {
    code: 'secret/short',
    message: `the value of ${secretName} ${short}`,
    hint: `set a longer one if the sender allows it, for example with \`${renderGenerate(secretName, description)}\``,
  };
}

/** The command that sets a random value of the kind that the scheme takes. */
function renderGenerate(secretName: string, scheme?: SignatureDescription): string {
  const format = scheme && isStandardWebhooks(scheme) ? ' --format whsec' : '';
  return `hookmill secrets generate ${secretName}${format}`;
}

interface SecretMistake {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
}

/** Checks the team secret of one webhook; undefined if the webhook can use it. A declared secret has no mistake. */
export function findSecretMistake(
  webhook: SecretWebhook,
  secret: TeamSecret | undefined,
  knownNames: readonly string[],
): SecretMistake | undefined {
  const name = webhook.secretName;
  const missing = findUnusable(name, secret, knownNames, renderSecretCommand(webhook));
  if (missing) return missing;
  const value = secret?.value?.text;
  if (value === undefined) return undefined;
  if (webhook.authMode === 'url_token' && !isUrlToken(value)) {
    return {
      code: 'secret/not-url-safe',
      message: `the value of ${name} cannot be part of a URL; it must have ${urlTokenCharsMin}–${urlTokenCharsMax} of the characters A-Z a-z 0-9 _ ~ . -`,
      hint: `\`hookmill secrets generate ${name}\` sets a suitable value`,
    };
  }
  if (webhook.authMode === 'token' && !headerSafe.test(value)) {
    return {
      code: 'secret/not-header-safe',
      message: `the value of ${name} cannot be sent in a header: it has line breaks, control characters or outer spaces`,
      hint: `\`hookmill secrets generate ${name}\` sets a suitable value`,
    };
  }
  const description = webhook.signatureScheme && describeScheme(webhook.signatureScheme);
  const unusable = description && checkSecret(description, value);
  if (!unusable) return undefined;
  const or = isStandardWebhooks(description)
    ? `, or, if the sender takes a secret of yours, run \`${renderGenerate(name, description)}\``
    : '';
  return {
    code: 'secret/unusable',
    message: `the value of ${name}: ${unusable}`,
    hint: `copy the value from the provider again and pass it to \`hookmill secrets set ${name}\`${or}`,
  };
}

/** Why a team secret has no value that the factory could use; undefined for one that is only declared. */
function findUnusable(
  name: string,
  secret: TeamSecret | undefined,
  knownNames: readonly string[],
  createCommand: string,
): SecretMistake | undefined {
  if (!secret) {
    return {
      code: 'secret/missing',
      message: `there is no team secret ${name}`,
      hint: didYouMean(name, knownNames) ?? `create it with \`${createCommand}\``,
    };
  }
  if (secret.forbiddenTo !== undefined) {
    return {
      code: 'secret/not-shared',
      message: `the factory ${secret.forbiddenTo} may not use the team secret ${name}`,
      hint: `\`hookmill secrets share ${name} ${secret.forbiddenTo}\` allows it`,
    };
  }
  return secret.unresolved && { code: 'secret/unresolved', ...secret.unresolved };
}

function isUrlToken(value: string): boolean {
  return urlSafe.test(value) && value.length >= urlTokenCharsMin && value.length <= urlTokenCharsMax;
}

/** Finds the team secrets that alerts cannot be sent with, given the setting `alerts`. */
export async function findAlertMistakes(
  receivers: readonly { readonly format?: string | undefined; readonly secret: string }[],
  teamSecrets: Pick<TeamSecrets, 'open' | 'listNames'>,
): Promise<readonly Mistake[]> {
  const names = receivers.map(({ secret }) => secret);
  const [secrets, known] = [await teamSecrets.open(names), await teamSecrets.listNames()];
  return receivers.flatMap(({ format, secret: secretName }, index): Mistake[] => {
    const path = ['alerts', index, 'secret'];
    const secret = secrets.get(secretName);
    const isSigned = (format ?? 'standard-webhooks') === 'standard-webhooks';
    const using = { name: '', secretName, enabled: true, authMode: 'signature' } as const;
    // Every value is a secret of Slack.
    const signatureScheme = isSigned ? 'standard-webhooks' : 'slack';
    const found = findSecretMistake({ ...using, signatureScheme }, secret, known);
    if (found) return [{ ...found, path }];
    if (secret?.value) return [];
    const message = `the team secret ${secretName} has no value`;
    const generate = isSigned ? `, or \`hookmill secrets generate ${secretName} --format whsec\`` : '';
    const hint = `set it with \`hookmill secrets set ${secretName}\`${generate}`;
    return [{ code: 'secret/missing', path, message, hint }];
  });
}
