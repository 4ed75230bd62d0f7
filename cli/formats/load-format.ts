import type { Diagnostic } from '../../schema/diagnostics.ts';

/** How `validate` prints what it found. */
export const formatNames = ['text', 'json', 'github', 'sarif', 'gitlab', 'junit'] as const;
export type FormatName = (typeof formatNames)[number];

/** What `validate` found, in the order of `sortDiagnostics`. */
export interface Findings {
  readonly diagnostics: readonly Diagnostic[];
  /** The text of each file that could be read, by its name in the diagnostics. */
  readonly texts: ReadonlyMap<string, string>;
  readonly errorCount: number;
  readonly warningCount: number;
  /** Of hookmill, for reports that name the tool that made them. */
  readonly version: string;
}

export type Format = (findings: Findings) => string;

const loaders: Readonly<Record<FormatName, () => Promise<Format>>> = {
  text: async () => (await import('./text.ts')).renderText,
  json: async () => (await import('./json.ts')).renderJson,
  github: async () => (await import('./github.ts')).renderGithub,
  sarif: async () => (await import('./sarif.ts')).renderSarif,
  gitlab: async () => (await import('./gitlab.ts')).renderGitlab,
  junit: async () => (await import('./junit.ts')).renderJunit,
};

/** Only the format that is printed is loaded. */
export function loadFormat(name: FormatName): Promise<Format> {
  return loaders[name]();
}

/** The format for whoever reads: the log of a CI that has one of its own, else a person. */
export function formatForEnvironment(env: NodeJS.ProcessEnv): FormatName {
  if (env.GITHUB_ACTIONS === 'true') return 'github';
  return env.GITLAB_CI === 'true' ? 'gitlab' : 'text';
}

/** Whether a program reads the format, which needs file names from the repository's root. */
export function isReport(name: FormatName): boolean {
  return name !== 'text' && name !== 'json';
}
