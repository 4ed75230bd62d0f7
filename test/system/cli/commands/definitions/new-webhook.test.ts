import { describe, expect, test } from 'vitest';
import { listNextSteps, renderDefinition, type Sender } from '../../../../../cli/scaffold/new-webhook.ts';
import { parseWebhook } from '../../../../../schema/definitions/parse-webhook.ts';
import { suggestSecretName } from '../../../../../schema/names.ts';
import { findScheme, schemes } from '../../../../../signatures/schemes.ts';
import { parseHookmill } from '../../../../support/hookmill-command-line.ts';

const senders: readonly Sender[] = ['token', 'url_token', ...schemes];

describe.each(senders.map(sender => [typeof sender === 'string' ? sender : sender.id, sender] as const))(
  '%s',
  (id, sender) => {
    const secretName = suggestSecretName(
      id.replace('_', '-'),
      typeof sender === 'string' ? sender : 'signature',
    );

    test('is written as a valid definition', () => {
      const parsed = parseWebhook(
        'some',
        'webhooks/some.yaml',
        Buffer.from(renderDefinition(sender, secretName)),
      );
      expect(parsed.diagnostics).toEqual([]);
      expect(parsed.definition).toMatchObject({ secretName, enabled: true });
    });

    test('has steps whose commands exist, which make its secret and apply', () => {
      const commands = listNextSteps(sender, secretName).flatMap(({ run }) => run ?? []);
      expect(commands.flatMap(command => parseHookmill(command) ?? [])).toEqual([]);
      expect(commands).toContain('apply');
      expect(
        commands.filter(command => command.startsWith('secrets ') && command.endsWith(` ${secretName}`)),
      ).not.toEqual([]);
    });
  },
);

test('a secret that the provider issues for a URL is declared, and set and applied once it is there', () => {
  expect(commandsFor('stripe')).toEqual(['secrets declare S', 'apply', 'secrets set S', 'apply']);
});

test('a secret that the provider shows before it has a URL is set first', () => {
  expect(commandsFor('slack')).toEqual(['secrets set S', 'apply']);
});

test('a secret of the user’s choice is generated', () => {
  expect(commandsFor('github')).toEqual(['secrets generate S', 'apply']);
});

test('a provider that asks before it delivers needs the daemon running, and the steps say so', () => {
  const slack = findScheme('slack');
  expect(slack && JSON.stringify(listNextSteps(slack, 'S'))).toContain('`hookmill serve` must be running');
});

function commandsFor(id: string): readonly string[] {
  const scheme = findScheme(id);
  if (!scheme) throw new Error(`no scheme ${id}`);
  return listNextSteps(scheme, 'S').flatMap(({ run }) => run ?? []);
}
