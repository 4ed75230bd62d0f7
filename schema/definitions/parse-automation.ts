import { findFilterWarnings } from '../filters/warnings/find-filter-warnings.ts';
import {
  type AutomationDefinition,
  automationFileShape,
  promptBytesMax,
  type WrittenAutomation,
} from './automation-definition.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import { findPromptWarnings } from './prompt-warnings.ts';
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
    ...triggers.flatMap(({ filter: { payload } }, index) =>
      findFilterWarnings(payload ?? {}).map(warning => {
        return { ...warning, path: ['triggers', index, 'filter', 'payload', ...warning.path] };
      }),
    ),
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
