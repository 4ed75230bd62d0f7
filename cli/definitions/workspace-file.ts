import { join, posix } from 'node:path';
import type { ParsedFile } from '../../schema/definitions/parse-definition.ts';
import { parseWorkspace, type Workspace } from '../../schema/definitions/workspace.ts';
import { definitionBytesMax } from '../../schema/definitions/yaml-source.ts';
import type { DiagnosticCode } from '../../schema/diagnostics.ts';
import { readRegularFile } from '../../sources/regular-file.ts';

const name = 'hookmill.yaml';

export interface WorkspaceFile extends ParsedFile<Workspace> {
  /** As diagnostics name it. */
  readonly file: string;
}

/** What `hookmill.yaml` of a definitions directory says, or what is wrong with it; where there is none, nothing. */
export function readWorkspace(directory: string, label = ''): WorkspaceFile {
  const file = posix.join(label, name);
  const refused = (code: DiagnosticCode, message: string) => {
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
    return refused('definition/not-regular-file', 'it must be a regular file');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { file, definition: {}, diagnostics: [], text: '' };
    return refused('yaml/unreadable', `the file cannot be read (${code})`);
  }
}
