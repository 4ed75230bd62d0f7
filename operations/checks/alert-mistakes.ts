import type { Mistake } from '../../schema/definitions/shape-mistakes.ts';
import type { TeamSecrets } from '../../store/team-secrets.ts';
import { findSecretMistake } from './secret-diagnostics.ts';

/** Finds the team secrets that alerts cannot be signed with. The names are in the order of the setting `alerts`. */
export async function findAlertMistakes(
  names: readonly string[],
  teamSecrets: Pick<TeamSecrets, 'open' | 'listNames'>,
): Promise<readonly Mistake[]> {
  const [secrets, known] = [await teamSecrets.open(names), await teamSecrets.listNames()];
  return names.flatMap((secretName, index): Mistake[] => {
    const path = ['alerts', index, 'secret'];
    const secret = secrets.get(secretName);
    const signing = { name: '', secretName, enabled: true, authMode: 'signature' } as const;
    const found = findSecretMistake({ ...signing, signatureScheme: 'standard-webhooks' }, secret, known);
    if (found) return [{ ...found, path }];
    if (secret?.value) return [];
    const message = `the team secret ${secretName} has no value`;
    const hint = `set it with \`hookmill secrets set ${secretName}\`, or \`hookmill secrets generate ${secretName} --format whsec\``;
    return [{ code: 'secret/missing', path, message, hint }];
  });
}
