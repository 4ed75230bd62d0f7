import { attachmentName, headersAttachmentName } from '../attachments.ts';
import { truncate } from '../diagnostics.ts';
import type { Mistake } from './shape-mistakes.ts';

// `{{ … }}` of templates, and `${{ … }}` of GitHub Actions.
const placeholder = /\$?\{\{[^{}\n]+\}\}/g;
// The name of a file that could only come from the delivery. Files of a repository have other names, or a path.
const file =
  /(?<![\w/.-])(?:\.\/)?((?:(?:event|webhook|delivery|request|github)[-_.]?)?(?:payload|body|headers?)|event|webhook|delivery)\.(?:json|ya?ml|txt)(?![\w-])/gi;
// The directories that only a run of several deliveries gets.
const directory = /(?<![\w/.-])(?:\.\/)?(event-(?:payloads|headers)\/)/g;

/** @limit Warnings about one prompt: the first ones show what is wrong with all. */
const promptWarningsMax = 5;

/**
 * Warns about files and values that a prompt mentions, but a run does not get. A debounced run gets several deliveries.
 */
export function findPromptWarnings(prompt: string, isDebounced: boolean): Mistake[] {
  const placeholders = listMatches(prompt, placeholder).map(found => ({
    message: `nothing fills ${truncate(found, 40)} in a prompt`,
    hint: `say where the run finds it, such as "the field title in ${attachmentName}"`,
  }));
  const files = listMatches(prompt, file)
    .filter(name => name !== attachmentName && name !== headersAttachmentName)
    .map(name => ({
      message: `a run gets no file ${name}`,
      hint: `write ${attachmentName} for the body of the delivery, or ${headersAttachmentName} for its headers`,
    }));
  const directories = listMatches(prompt, directory).map(name => ({
    message: `without debounce, a run gets no directory ${name}`,
    hint: `add debounce, or write ${attachmentName} for the body of the delivery`,
  }));
  return [...placeholders, ...files, ...(isDebounced ? [] : directories)]
    .slice(0, promptWarningsMax)
    .map(warning => ({ code: 'automation/prompt', path: ['prompt'], ...warning }));
}

function listMatches(text: string, pattern: RegExp): string[] {
  return [...new Set(text.match(pattern)?.map(found => found.replace(/^\.\//, '')))];
}
