import type { Store } from '../../../store/ports/store.ts';
import type { AttemptResult } from './runner.ts';

type Unopened = Extract<AttemptResult, { kind: 'failed' | 'retry' }>;

/**
 * Opens the team secrets of a runner for the factory of a run, by name. If one has no value that the factory may use,
 * says so as the result of the attempt, with the remedy.
 */
export async function openSecrets(
  names: readonly string[],
  factory: string,
  store: Pick<Store, 'teamSecrets'>,
): Promise<ReadonlyMap<string, string> | Unopened> {
  const values = new Map<string, string>();
  if (names.length === 0) return values;
  const opened = await store.teamSecrets.open(new Set(names), factory);
  for (const name of names) {
    const secret = opened.get(name);
    if (secret?.forbiddenTo !== undefined) {
      const remedy = `\`hookmill secrets share ${name} ${factory}\` allows it`;
      return {
        kind: 'failed',
        reason: `the factory ${factory} may not use the team secret ${name}; ${remedy}`,
      };
    }
    // Where the value is kept may be out of reach only now.
    if (secret?.unresolved) {
      const { message, hint } = secret.unresolved;
      return { kind: 'retry', reason: `${message}; ${hint}` };
    }
    if (!secret?.value?.text) {
      const remedy = `set it with \`hookmill secrets set ${name}\`, then retry the run`;
      return { kind: 'failed', reason: `the team secret ${name} has no value; ${remedy}` };
    }
    values.set(name, secret.value.text);
  }
  return values;
}
