import type { AutomationDefinition } from '../../schema/definitions/automation-definition.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import { didYouMean } from '../../schema/text/suggestion.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { maySelect, type OfferedRunner } from '../../store/ports/daemon-records.ts';

type Chosen = Pick<AutomationDefinition, 'name' | 'runner' | 'repository' | 'requires'>;

interface RunnerMistake {
  readonly key: 'runner' | 'repository' | 'requires';
  readonly message: string;
  readonly hint: string;
}

/** Checks the runner that an automation of a factory names, and what it asks of it. */
function findRunnerMistake(
  { name, runner = defaultRunner, repository, requires }: Chosen,
  factory: string,
  offered: readonly OfferedRunner[],
): RunnerMistake | undefined {
  const own = offered.filter(one => maySelect(one, { factory, automation: name }));
  const known = offered.find(one => one.name === runner);
  const names = own.map(one => one.name);
  if (!known) {
    const message = `the daemon offers no runner ${runner}`;
    const add = `add it to \`runs.runners\` in the daemon's configuration file, and start the daemon again`;
    return { key: 'runner', message, hint: didYouMean(runner, names) ?? add };
  }
  if (!own.includes(known)) {
    const message = `the automation ${name} of the factory ${factory} may not use the runner ${runner}`;
    const hint = `it may use ${names.join(', ')}; the operator allows more with \`factories\` and \`automations\` in \`runs.runners.${runner}\``;
    return { key: 'runner', message, hint };
  }
  if (requires && known.kind !== 'command') {
    const message = `the runner ${runner} keeps no artifacts, so no run of it can leave those that requires names`;
    return { key: 'requires', message, hint: 'choose a runner of the kind command, or remove requires' };
  }
  if (repository === undefined || known.repositories.includes(repository)) return undefined;
  const message = `the runner ${runner} offers no repository ${repository}`;
  const add = 'the operator adds it to `repositories` in the `workspace` of the runner';
  return { key: 'repository', message, hint: didYouMean(repository, known.repositories) ?? add };
}

/** Finds automations that ask for a runner, or something of a runner, that the daemon does not offer them. */
export function findRunnerDiagnostics(
  { automations, locate }: Pick<Definitions, 'automations' | 'locate'>,
  factory: string,
  offered: readonly OfferedRunner[],
): Diagnostic[] {
  return automations.flatMap((automation): Diagnostic[] => {
    const mistake = findRunnerMistake(automation, factory, offered);
    if (!mistake) return [];
    const { key, ...said } = mistake;
    const place = locate('automation', automation.name, [key]);
    return [{ code: 'automation/runner-not-offered', severity: 'error', ...said, ...place }];
  });
}

/** Fails with `request-invalid` if the daemon does not offer what the automation asks for. */
export function requireOffered(automation: Chosen, factory: string, offered: readonly OfferedRunner[]): void {
  const mistake = findRunnerMistake(automation, factory, offered);
  if (!mistake) return;
  const { key, ...said } = mistake;
  const mistakes = [{ pointer: `/${key}`, code: 'automation/runner-not-offered', ...said }];
  throw new Refusal('request-invalid', { mistakes });
}
