import { printableJson } from '../../schema/text/printable.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import type { Findings, Format } from './findings.ts';

/** The formats in which `validate` prints its findings. */
export const formatNames = ['text', 'json', 'github', 'sarif', 'gitlab', 'junit'] as const;
export type FormatName = (typeof formatNames)[number];

const loaders: Readonly<Record<FormatName, () => Promise<Format>>> = {
  text: async () => renderText,
  json: async () => renderJson,
  github: async () => (await import('./annotations.ts')).renderGithub,
  sarif: async () => (await import('./sarif.ts')).renderSarif,
  gitlab: async () => (await import('./annotations.ts')).renderGitlab,
  junit: async () => (await import('./junit.ts')).renderJunit,
};

/** Loads only the format that is printed. */
export function loadFormat(name: FormatName): Promise<Format> {
  return loaders[name]();
}

/** Chooses the format that the log of a known CI displays, otherwise text for people. */
export function chooseFormat(env: NodeJS.ProcessEnv): FormatName {
  if (env.GITHUB_ACTIONS === 'true') return 'github';
  return env.GITLAB_CI === 'true' ? 'gitlab' : 'text';
}

/** Says whether a program reads the format, and so needs file names relative to the repository's root. */
export function isReport(name: FormatName): boolean {
  return name !== 'text' && name !== 'json';
}

function renderText({ diagnostics, texts }: Findings): string {
  return renderDiagnostics(diagnostics, texts);
}

function renderJson({ diagnostics, errorCount, warningCount }: Findings): string {
  const data = { valid: errorCount === 0, errorCount, warningCount, diagnostics };
  return `${printableJson(data)}\n`;
}
