import { z } from 'zod';
import { addMistake } from './add-mistake.ts';

/** @limit Longest path of a prompt file in the definitions directory, in characters: it is a few short names. */
export const promptPathCharsMax = 200;

/**
 * Matches the path of a prompt file in the definitions directory. It leads to no parent, no hidden file and no folder of
 * definitions, and has only characters that every file system writes in the same way.
 */
export const promptPathPattern = /^(?!(?:webhooks|automations)\/)(?:\w[\w. -]*\/)*\w[\w. -]*\.(?:md|txt)$/;

/** The path of a prompt file, as `promptFile` of an automation has it. */
export const promptPath = z
  .string()
  .superRefine((path, context) => {
    if (path.length <= promptPathCharsMax && promptPathPattern.test(path)) return;
    addMistake(context, [], `"${path}" is not the path of a prompt file`, {
      ...{ code: 'automation/prompt-file', hint: explain(path) },
    });
  })
  .meta({
    pattern: promptPathPattern.source,
    maxLength: promptPathCharsMax,
    examples: ['prompts/triage.md'],
  });

function explain(path: string): string {
  if (!/\.(md|txt)$/.test(path)) return 'name a file that ends in .md or .txt, such as prompts/triage.md';
  if (/^(webhooks|automations)\//.test(path))
    return 'move the file to a folder that is not for definitions, such as prompts';
  if (path.length > promptPathCharsMax) return `shorten the path to ${promptPathCharsMax} characters`;
  if (/^\/|(^|\/)\.\.?\//.test(path))
    return 'write a path inside the definitions directory, such as prompts/triage.md';
  return 'use letters, digits, spaces, _, - and . in each name, and start it with a letter, a digit or _';
}

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
