interface Branch {
  readonly repository: string;
  readonly branch: string;
  /** The folder of the definitions; empty at the root. */
  readonly path: string;
}

/** A branch that a factory follows in a few words. */
export function describeBranch({ repository, branch, path }: Branch): string {
  return `${branch} of ${repository}${path === '' ? '' : `, ${path}`}`;
}
