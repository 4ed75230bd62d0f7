import { stat } from 'node:fs/promises';

/** Identifies a file's content without reading it; `missing` where there is none. Files are replaced, never written over. */
export async function fileVersion(file: string): Promise<string> {
  try {
    const { ino, size, ctimeNs, mtimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : String(code);
  }
}
