import { join, posix } from 'node:path';
import { type ParsedFile, parseWorkspace, type Workspace } from '../../schema/definitions/parse-file.ts';
import { definitionBytesMax } from '../../schema/definitions/yaml-source.ts';
import type { DiagnosticCode } from '../../schema/diagnostics.ts';
import { readRegularFile } from '../../sources/regular-file.ts';

const name = 'hookmill.yaml';

export interface WorkspaceFile extends ParsedFile<Workspace> {
  /** Its name in diagnostics. */
  readonly file: string;
}

/** Reads `hookmill.yaml` of a definitions directory; without that file, the workspace is empty. */
export function readWorkspace(directory: string, label = ''): WorkspaceFile {
  const file = posix.join(label, name);
  const refuse = (code: DiagnosticCode, message: string) => {
    return {
      file,
      definition: undefined,
      diagnostics: [{ code, severity: 'error' as const, message, file }],
      text: '',
    };
  };
  try {
    const bytes = readRegularFile(join(directory, name), definitionBytesMax);
    if (bytes) return { file, ...parseWorkspace(file, bytes) };
    return refuse('definition/not-regular-file', 'hookmill.yaml must be a regular file');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { file, definition: {}, diagnostics: [], text: '' };
    return refuse('yaml/unreadable', `the file cannot be read (${code})`);
  }
}
