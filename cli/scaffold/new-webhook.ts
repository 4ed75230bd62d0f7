import type { SignatureScheme } from '../../signatures/description.ts';
import { hasGetHandshake } from '../../signatures/handshake.ts';

/** How the sender of a new webhook proves itself: a mode without a scheme, or a shipped scheme. */
export type Sender = 'token' | 'url_token' | SignatureScheme;

/** Something to do until deliveries come; `run` is a command line after `hookmill`. */
export interface Step {
  readonly say: string;
  readonly run?: string;
}

/** What stands in the new webhook's file. */
export function definitionText(sender: Sender, secretName: string): string {
  const auth =
    typeof sender === 'string'
      ? `authMode: ${sender}\n`
      : `authMode: signature\nsignatureScheme: ${sender.id}\n`;
  return `${auth}secretName: ${secretName}\n`;
}

/** From the written definition to the first delivery, in the order in which the provider can be set up. */
export function nextSteps(sender: Sender, secretName: string): readonly Step[] {
  if (sender === 'token') {
    const say = 'Let the sender POST JSON to that URL with the header `Authorization: Bearer <the value>`.';
    return [generate(secretName), apply, { say }];
  }
  if (sender === 'url_token') {
    const say =
      'Give the sender that URL with the value in place of {token}. The URL is then itself the credential.';
    return [generate(secretName), apply, { say }];
  }
  return schemeSteps(sender, secretName);
}

const apply: Step = { say: 'Apply, which prints the ingress URL:', run: 'apply' };

function generate(secretName: string): Step {
  return {
    say: 'Make the team secret; its value is shown this once:',
    run: `secrets generate ${secretName}`,
  };
}

function schemeSteps(scheme: SignatureScheme, secretName: string): readonly Step[] {
  const { provider, secretLocation, secretCommand, page, note } = scheme;
  const set = `secrets set ${secretName}`;
  const read = `See ${page}${note ? `\nNote: ${note}` : ''}`;
  const register = `At ${provider}, register that URL for JSON deliveries.${handshake(scheme)}`;
  switch (secretCommand) {
    case 'generate':
      return [
        generate(secretName),
        apply,
        { say: `${register}\nIts secret is the value: ${secretLocation}.\n${read}` },
      ];
    case 'set':
      return [
        { say: `Take the secret from ${provider}: ${secretLocation}. Store it:`, run: set },
        apply,
        { say: `${register}\n${read}` },
      ];
    case 'declare':
      return [
        {
          say: `${provider} issues the secret once it has the URL. Until then, only its name exists:`,
          run: `secrets declare ${secretName}`,
        },
        apply,
        { say: `${register}\n${read}` },
        { say: `Take the secret from ${provider}: ${secretLocation}. Store it:`, run: set },
        { say: 'Apply again; until then deliveries are answered 401:', run: 'apply' },
      ];
  }
}

function handshake(scheme: SignatureScheme): string {
  if (!scheme.handshake) return '';
  const method = hasGetHandshake(scheme) ? 'GET' : 'POST';
  return ` It first asks by ${method} whether the URL answers, which \`hookmill serve\` must be running to do.`;
}
