import type { Repository } from '../repository.ts';

/** A bare repository in hookmill's store that holds the tip of one branch. Code that uses it must hold its lock. */
export interface GitMirror {
  readonly directory: string;
  readonly repository: Repository;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The ref that a fetch sets to the branch's tip. */
export const tipRef = 'refs/hookmill/tip';
