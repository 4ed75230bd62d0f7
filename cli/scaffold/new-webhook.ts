import type { SignatureScheme } from '../../signatures/description.ts';
import { getHandshakeMethod } from '../../signatures/handshake.ts';
import { nameSender } from '../../signatures/schemes.ts';
import type { Step } from '../render/render-table.ts';

/** The authentication of a new webhook's sender: a mode without a scheme, or a shipped scheme. */
export type Sender = 'token' | 'url_token' | SignatureScheme;

/** Renders the new webhook's file. */
export function renderDefinition(sender: Sender, secretName: string): string {
  const auth =
    typeof sender === 'string'
      ? `authMode: ${sender}\n`
      : `authMode: signature\nsignatureScheme: ${sender.id}\n`;
  const identity =
    typeof sender === 'string'
      ? '# If the sender has no event IDs, and sends the same body for another event:\n# identity: none\n'
      : '';
  return `${auth}secretName: ${secretName}\n${identity}`;
}

/** Lists the steps from the definition to the first delivery, in the order in which the provider can be set up. */
export function listNextSteps(sender: Sender, secretName: string): readonly Step[] {
  if (sender === 'token') {
    const say =
      'Configure the sender to POST JSON to that URL with the header `Authorization: Bearer <value>`.';
    return [createGenerateStep(secretName), apply, { say }];
  }
  if (sender === 'url_token') {
    const say = 'Give the sender that URL with the value instead of {token}. The whole URL is then a secret.';
    return [createGenerateStep(secretName), apply, { say }];
  }
  return listSchemeSteps(sender, secretName);
}

const apply: Step = { say: 'Apply; this prints the ingress URL:', run: 'apply' };

function createGenerateStep(secretName: string): Step {
  return {
    say: 'Create the team secret; its value is shown only once:',
    run: `secrets generate ${secretName}`,
  };
}

function listSchemeSteps(scheme: SignatureScheme, secretName: string): readonly Step[] {
  const { secretLocation, secretCommand, page, note } = scheme;
  const provider = nameSender(scheme);
  const set = `secrets set ${secretName}`;
  const read = `See ${page}${note ? `\nNote: ${note}` : ''}`;
  const register = `At ${provider}, register that URL for JSON deliveries.${describeHandshake(scheme)}`;
  switch (secretCommand) {
    case 'generate':
      return [
        createGenerateStep(secretName),
        apply,
        { say: `${register}\nUse the value as its secret: ${secretLocation}.\n${read}` },
      ];
    case 'set':
      return [
        { say: `Copy the secret from ${provider}: ${secretLocation}. Store it:`, run: set },
        apply,
        { say: `${register}\n${read}` },
      ];
    case 'declare':
      return [
        {
          say: `${nameSender(scheme, 'first')} issues the secret after it has the URL. Until then, declare only its name:`,
          run: `secrets declare ${secretName}`,
        },
        apply,
        { say: `${register}\n${read}` },
        { say: `Copy the secret from ${provider}: ${secretLocation}. Store it:`, run: set },
        { say: 'Apply again; until then, deliveries are answered with 401:', run: 'apply' },
      ];
  }
}

function describeHandshake(scheme: SignatureScheme): string {
  const method = getHandshakeMethod(scheme);
  if (!method) return '';
  return ` It first sends a ${method} request to test the URL: \`hookmill serve\` must be running.`;
}
