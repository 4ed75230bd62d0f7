import { renderDiagnostics } from '../render/render-diagnostics.ts';
import type { Findings } from './findings.ts';

export function renderText({ diagnostics, texts }: Findings): string {
  return renderDiagnostics(diagnostics, texts);
}
