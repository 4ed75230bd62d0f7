import { expect, test } from 'vitest';
import { findPromptWarnings } from '../../../../schema/definitions/parse-automation.ts';

function messages(prompt: string, isDebounced = false): string[] {
  return findPromptWarnings(prompt, isDebounced).map(({ message }) => message);
}

test.for([
  ['Close {{issue}}.', 'nothing fills {{issue}} in a prompt'],
  [`Close \${{ github.event.issue }}.`, `nothing fills \${{ github.event.issue }} in a prompt`],
  ['Read payload.json.', 'a run gets no file payload.json'],
  ['Read `./event.json`', 'a run gets no file event.json'],
  ['Read event_payload.json', 'a run gets no file event_payload.json'],
  ['Read Event-Payload.json', 'a run gets no file Event-Payload.json'],
  ['See headers.txt, please', 'a run gets no file headers.txt'],
  ['Read ./event-payloads/0001.json', 'without debounce, a run gets no directory event-payloads/'],
] as const)('%s', ([prompt, message]) => {
  expect(messages(prompt)).toEqual([message]);
});

test.for([
  'Read event-payload.json and ./event-headers.json, then update package.json.',
  'Correct src/payload.json and docs/webhook.yaml.',
  'The template engine is {{mustache}-like, {so} is {{ this\n}}.',
  'Post the body. Json is fine.',
  'Use my-payload.json and payload.json5.',
  'The event-payloads are in src/event-payloads/.',
])('%s: nothing', prompt => {
  expect(messages(prompt)).toEqual([]);
});

test('a run of several deliveries gets the directories', () => {
  expect(messages('Read event-payloads/0001.json and event-headers/0001.json', true)).toEqual([]);
});

test('each promise is named once, and only the first ones of many', () => {
  expect(messages('{{a}} {{a}} payload.json payload.json')).toHaveLength(2);
  expect(messages(Array.from({ length: 9 }, (_, n) => `{{${n}}}`).join(' '))).toHaveLength(5);
});
