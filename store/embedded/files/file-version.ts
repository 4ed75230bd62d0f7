import { stat } from 'node:fs/promises';

/** Identifies a file's content without reading it; undefined if there is no file. Files are replaced, never overwritten. */
export async function readFileVersion(file: string): Promise<string | undefined> {
  try {
    const { ino, size, ctimeNs, mtimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : String(code);
  }
}
