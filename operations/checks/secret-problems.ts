import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic, DiagnosticCode } from '../../schema/diagnostics.ts';
import { didYouMean } from '../../schema/suggestion.ts';
import { checkSecret } from '../../signatures/key.ts';
import { describeScheme } from '../../signatures/schemes.ts';
import type { Definitions } from '../../sources/definition-files.ts';
import type { TeamSecret } from '../../store/team-secrets.ts';

// RFC 3986 section 2.3: the unreserved characters, which need no encoding anywhere in a URL.
const urlSafe = /^[A-Za-z0-9_~.-]{16,256}$/;
// RFC 9110 section 5.5: what a field value can carry; white space at its ends would be stripped.
const headerSafe = /^[\x21-\x7e\x80-\uffff](?:[\x20-\x7e\x80-\uffff]*[\x21-\x7e\x80-\uffff])?$/;

/** What is wrong with the team secrets that the webhooks name. Never shows a value. */
export function secretProblems(
  definitions: Pick<Definitions, 'webhooks' | 'locate'>,
  secrets: ReadonlyMap<string, TeamSecret>,
  knownNames: readonly string[],
): Diagnostic[] {
  return definitions.webhooks.flatMap(webhook => {
    const found = problemOf(webhook, secrets.get(webhook.secretName), knownNames);
    if (!found) return [];
    const place = definitions.locate('webhook', webhook.name, ['secretName']);
    return [{ ...found, severity: 'error' as const, ...place }];
  });
}

interface Found {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
}

function problemOf(
  webhook: WebhookDefinition,
  secret: TeamSecret | undefined,
  knownNames: readonly string[],
): Found | undefined {
  const name = webhook.secretName;
  if (!secret) {
    return {
      code: 'secret/missing',
      message: `there is no team secret ${name}`,
      hint: didYouMean(name, knownNames) ?? `make it with \`hookmill secrets set ${name}\``,
    };
  }
  const value = secret.value?.text;
  if (value === undefined) return undefined;
  if (webhook.authMode === 'url_token' && !urlSafe.test(value)) {
    return {
      code: 'secret/not-url-safe',
      message: `the value of ${name} cannot be part of a URL: it must be 16 to 256 of A-Z a-z 0-9 _ ~ . -`,
      hint: `\`hookmill secrets generate ${name}\` makes one that can`,
    };
  }
  if (webhook.authMode === 'token' && !headerSafe.test(value)) {
    return {
      code: 'secret/not-header-safe',
      message: `the value of ${name} cannot be sent in a header: it has line ends, control characters or outer spaces`,
      hint: `\`hookmill secrets generate ${name}\` makes one that can`,
    };
  }
  const description = webhook.signatureScheme && describeScheme(webhook.signatureScheme);
  const unusable = description && checkSecret(description, value);
  if (!unusable) return undefined;
  return {
    code: 'secret/unusable',
    message: `the value of ${name}: ${unusable}`,
    hint: `copy it from the provider again and pass it to \`hookmill secrets set ${name}\``,
  };
}
