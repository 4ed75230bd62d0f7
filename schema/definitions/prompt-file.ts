import { promptBytesMax } from './automation-definition.ts';
import { describeAbsence, type FoundPrompt } from './found-prompt.ts';
import type { Mistake } from './shape-mistakes.ts';
import { decodeText } from './yaml-source.ts';

type ReadPrompt = { readonly text: string } | { readonly mistake: Mistake };

/** Reads the text of a prompt file, or describes why it is no prompt. Line ends are LF, as in a block of YAML. */
export function readPrompt(path: string, found: FoundPrompt): ReadPrompt {
  const fail = (message: string, hint: string): ReadPrompt => ({
    mistake: { code: 'automation/prompt-file', path: ['promptFile'], message, hint },
  });
  if (found === 'too-large' || (typeof found !== 'string' && found.length > promptBytesMax)) {
    const hint = 'shorten it, and put background information where the run can read it';
    return fail(`${path} is larger than ${promptBytesMax / 1024} KiB`, hint);
  }
  if (typeof found === 'string') {
    const { message, hint } = describeAbsence(path, found);
    return fail(message, hint);
  }
  const { text, mistake } = decodeText(found);
  if (mistake) return fail(`${path}: ${mistake.message}`, 'save it as UTF-8, without control characters');
  if (text.trim() === '') return fail(`${path} is empty`, 'write what the run should do');
  return { text: text.replaceAll('\r\n', '\n') };
}
