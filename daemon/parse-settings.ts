import { type ParsedFile, parseFile } from '../schema/definitions/parse-file.ts';
import { type DaemonSettings, settingsShape } from './settings.ts';

/** Parses a settings file. A daemon without one never loads the parser. */
export function parseSettings(file: string, bytes: Uint8Array): ParsedFile<DaemonSettings> {
  return parseFile(settingsShape, file, bytes);
}
