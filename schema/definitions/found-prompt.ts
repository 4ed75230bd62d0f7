/** A prompt file as a source found it: its content, at most one byte more than allowed, or why it has none. */
export type FoundPrompt = Uint8Array | 'too-large' | Absence;

type Absence = 'missing' | 'irregular' | 'unreadable';

/** Says why a prompt file has no content, and what to do. */
export function describeAbsence(path: string, why: Absence): { message: string; hint: string } {
  if (why === 'missing')
    return {
      message: `there is no file ${path}`,
      hint: 'create it; the path starts in the definitions directory',
    };
  if (why === 'unreadable') return { message: `${path} cannot be read`, hint: 'check its permissions' };
  return {
    message: `${path} is not a regular file, or is behind a link`,
    hint: 'put the file itself there, not a link',
  };
}
