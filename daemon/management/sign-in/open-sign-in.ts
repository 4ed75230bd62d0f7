import { signInPath } from '../../../schema/api/conventions.ts';
import type { Grant } from '../../../schema/grant.ts';
import type { StoredPerson } from '../../../store/ports/stored-sessions.ts';
import type { TeamSecrets } from '../../../store/ports/team-secrets.ts';
import { readSecretVariable, SettingsError } from '../../setting-shapes.ts';
import type { SignInProvider } from './provider.ts';
import type { SignInSettings } from './sign-in-settings.ts';

/** The sign-in of people at a provider. */
export interface SignIn extends SignInProvider {
  readonly label: string;
  /** The host and port to which the provider sends people back. */
  readonly host: string;
  /** Finds what the current settings grant to a person. */
  findGrants(person: StoredPerson): readonly Grant[];
}

export interface SignInOptions {
  readonly settings: SignInSettings;
  /** The URL at which browsers reach the dashboard. */
  readonly managementUrl: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly teamSecrets: Pick<TeamSecrets, 'open'>;
  readonly nowMs: () => number;
}

/** Opens the sign-in of people. Fails with SettingsError if the client secret that the settings name has no value. */
export async function openSignIn({ settings, managementUrl, ...given }: SignInOptions): Promise<SignIn> {
  const readClientSecret = makeReader(settings, given);
  await readClientSecret();
  const redirectUrl = new URL(signInPath, managementUrl);
  const { openProvider } = await import('./provider.ts');
  return {
    ...openProvider({ settings, redirectUrl, readClientSecret, nowMs: given.nowMs }),
    label: settings.label,
    host: redirectUrl.host,
    findGrants: ({ issuer, groups }) => {
      if (issuer !== settings.issuer) return [];
      const held = settings.grants.filter(({ group }) => groups.includes(group));
      return held.flatMap(({ permission, factories = [null] }) =>
        factories.map(factory => ({ factory, permission })),
      );
    },
  };
}

/** Makes a reader of the client secret. It reads a team secret for each sign-in, so that a new value needs no restart. */
function makeReader(
  { clientSecret, clientSecretFromEnvironment }: SignInSettings,
  { environment, teamSecrets }: Pick<SignInOptions, 'environment' | 'teamSecrets'>,
): () => Promise<string | undefined> {
  if (clientSecretFromEnvironment !== undefined) {
    const setting = 'signIn.clientSecretFromEnvironment';
    const value = readSecretVariable(environment, setting, clientSecretFromEnvironment);
    return async () => value;
  }
  if (clientSecret === undefined) return async () => undefined;
  return async () => {
    const value = (await teamSecrets.open([clientSecret])).get(clientSecret)?.value;
    if (value) return value.text;
    const advice = `set it with \`hookmill secrets set ${clientSecret}\``;
    throw new SettingsError(`signIn.clientSecret: the team secret ${clientSecret} has no value; ${advice}`);
  };
}
