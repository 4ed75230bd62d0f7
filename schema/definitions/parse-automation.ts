import { attachmentName, headersAttachmentName } from '../attachments.ts';
import { truncate } from '../diagnostics.ts';
import { findConditionWarnings, findFilterWarnings } from '../filters/warnings/find-filter-warnings.ts';
import {
  type AutomationDefinition,
  automationFileShape,
  promptBytesMax,
  type WrittenAutomation,
} from './automation-definition.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import { describeAbsence, type FoundPrompt } from './prompts.ts';
import type { Mistake } from './shape-mistakes.ts';
import { decodeText } from './yaml-source.ts';

/** Parses `automations/<name>.yaml`, and takes its prompt from `prompts`, by path, if it is in a file of its own. */
export function parseAutomation(
  name: string,
  file: string,
  bytes: Uint8Array,
  prompts: ReadonlyMap<string, FoundPrompt> = new Map(),
): ParsedFile<AutomationDefinition> {
  return parseFile(automationFileShape, file, bytes, ({ promptFile, ...written }) => {
    const prompt = findPrompt(written.prompt, promptFile, prompts);
    if ('mistake' in prompt) return { definition: undefined, errors: [prompt.mistake] };
    const promptKey = promptFile === undefined ? 'prompt' : 'promptFile';
    const definition = { name, ...written, prompt: prompt.text };
    return { definition, warnings: findAutomationWarnings(definition, promptKey) };
  });
}

/** The shape guarantees that there is one of the two. */
function findPrompt(
  text = '',
  path: WrittenAutomation['promptFile'],
  prompts: ReadonlyMap<string, FoundPrompt>,
): ReturnType<typeof readPrompt> {
  return path === undefined ? { text } : readPrompt(path, prompts.get(path) ?? 'missing');
}

function findAutomationWarnings(
  { prompt, triggers, debounce }: AutomationDefinition,
  promptKey: 'prompt' | 'promptFile',
): Mistake[] {
  return [
    ...findPromptWarnings(prompt, debounce !== undefined).map(warning => ({ ...warning, path: [promptKey] })),
    ...triggers.flatMap(({ filter: { payload = {}, headers = {} } }, index) => {
      const found = { payload: findFilterWarnings(payload), headers: findConditionWarnings({ ...headers }) };
      return Object.entries(found).flatMap(([part, warnings]) =>
        warnings.map(warning => {
          return { ...warning, path: ['triggers', index, 'filter', part, ...warning.path] };
        }),
      );
    }),
  ];
}

type ReadPrompt = { readonly text: string } | { readonly mistake: Mistake };

/** Reads the text of a prompt file, or describes why it is no prompt. Line ends are LF, as in a block of YAML. */
function readPrompt(path: string, found: FoundPrompt): ReadPrompt {
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
