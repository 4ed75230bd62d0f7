import { type ParsedFile, parseFile } from '../schema/definitions/parse-file.ts';
import { type Mistake, placeMistakes } from '../schema/definitions/shape-mistakes.ts';
import { parseYaml } from '../schema/definitions/yaml-source.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { type DaemonSettings, settingsShape } from './settings.ts';

/** Parses a settings file. A daemon without one never loads the parser. */
export function parseSettings(file: string, bytes: Uint8Array): ParsedFile<DaemonSettings> {
  return parseFile(settingsShape, file, bytes, definition => ({ definition }));
}

/** Finds the places of further mistakes in a settings file that was parsed. */
export function placeSettingsMistakes(
  file: string,
  bytes: Uint8Array,
  mistakes: readonly Mistake[],
  severity: Diagnostic['severity'] = 'error',
): readonly Diagnostic[] {
  const yaml = parseYaml(file, bytes);
  return yaml.ok ? placeMistakes(mistakes, severity, yaml.source) : [];
}
