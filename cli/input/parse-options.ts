import { type Outcome, outcomes, type RunState, runStates } from '../../schema/delivery.ts';
import { didYouMean, joinWithOr } from '../../schema/text/suggestion.ts';
import { UsageError } from '../exit-status.ts';

/** Parses the value of `--limit`. */
export const parseLimit = parseCount('--limit');

/** Creates the parser of an option whose value is a number of things. */
export function parseCount(option: string, max = 999_999): (text: string) => number {
  return text => {
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max) return Number(text);
    throw new UsageError(`${option} must be a whole number from 1–${max}, not "${text}"`);
  };
}

/** Parses the value of `--outcome`, in any case. */
export function parseOutcome(text: string): Outcome {
  const outcome = outcomes.find(outcome => outcome.toLowerCase() === text.toLowerCase());
  if (outcome) return outcome;
  throw refuseChoice('outcome', text, outcomes);
}

/** Parses the value of `--state`. */
export function parseRunState(text: string): RunState {
  const state = runStates.find(state => state === text);
  if (state) return state;
  throw refuseChoice('run state', text, runStates);
}

function refuseChoice(what: string, text: string, choices: readonly string[]): UsageError {
  const near = didYouMean(text, choices);
  const suggestion = near === undefined ? '' : ` (${near})`;
  return new UsageError(`unknown ${what} "${text}"${suggestion}; use ${joinWithOr(choices)}`);
}
