import { promptBytesMax } from './automation-definition.ts';
import type { Mistake } from './shape-mistakes.ts';
import { decodeText } from './yaml-source.ts';

/** A prompt file as a source found it: its content, at most one byte more than allowed, or why it has none. */
export type FoundPrompt = Uint8Array | 'missing' | 'irregular' | 'unreadable' | 'too-large';

type ReadPrompt = { readonly text: string } | { readonly mistake: Mistake };

/** Reads the text of a prompt file, or describes why it is no prompt. Line ends are LF, as in a block of YAML. */
export function readPrompt(path: string, found: FoundPrompt): ReadPrompt {
  const fail = (message: string, hint: string | undefined): ReadPrompt => ({
    mistake: { code: 'automation/prompt-file', path: ['promptFile'], message, hint },
  });
  if (typeof found === 'string' && found !== 'too-large') return fail(...describeAbsent(path, found));
  if (found === 'too-large' || found.length > promptBytesMax)
    return fail(`${path} is larger than ${promptBytesMax / 1024} KiB`, largeHint);
  const decoded = decodeText(found);
  if (decoded.mistake)
    return fail(`${path}: ${decoded.mistake.message}`, 'save it as UTF-8, without control characters');
  const text = decoded.text.replaceAll('\r\n', '\n');
  return text.trim() === '' ? fail(`${path} is empty`, 'write what the run should do') : { text };
}

const largeHint = 'shorten it, and put background information where the run can read it';

function describeAbsent(path: string, why: 'missing' | 'irregular' | 'unreadable'): [string, string] {
  if (why === 'missing')
    return [`there is no file ${path}`, 'create it; the path starts in the definitions directory'];
  if (why === 'irregular')
    return [`${path} is not a regular file, or is behind a link`, 'put the file itself there, not a link'];
  return [`${path} cannot be read`, 'check its permissions'];
}
