// Starts an agent, passes its events on line by line, and at its end writes artifacts/answer.md and artifacts/result.json.
//   node agent-result.mjs claude-code|codex|copilot|gemini|opencode COMMAND [ARGUMENT…]
// Exits with the status of the agent. Without a final answer there is no answer.md.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

/** Each reads an event into the result. The formats were looked up on 2026-11-26, in the named version of the agent. */
const readers = {
  // 2.1.332: https://code.claude.com/docs/en/agent-sdk/typescript#sdkresultmessage
  'claude-code': (event, result) => {
    if (event.type !== 'result') return;
    // A resumed session continues its total. The other field, if there is one, counts this run only.
    const models = Object.values(event.model_usage_since_last_result ?? event.modelUsage ?? {});
    for (const model of models) {
      add(result, 'costUsd', model.costUSD);
      add(
        result,
        'inputTokens',
        model.inputTokens,
        model.cacheReadInputTokens,
        model.cacheCreationInputTokens,
      );
      add(result, 'outputTokens', model.outputTokens);
    }
    result.turns = event.num_turns;
    if (event.is_error) result.error = event.result ?? event.errors?.join('\n') ?? event.subtype;
    else result.answer = event.result;
    result.refused.push(...event.permission_denials.map(({ tool_name }) => tool_name));
  },

  // 0.171.0: https://developers.openai.com/codex/noninteractive#make-output-machine-readable
  codex: ({ type, item, usage, error }, result) => {
    if (type === 'item.completed' && item.type === 'agent_message') result.answer = item.text;
    if (type === 'item.completed' && item.status === 'declined') result.refused.push(item.type);
    if (type === 'turn.completed') {
      add(result, 'inputTokens', usage.input_tokens);
      add(result, 'outputTokens', usage.output_tokens);
    }
    if (type === 'turn.failed') result.error = error.message;
  },

  // 1.0.102: https://docs.github.com/copilot/reference/copilot-cli-reference/cli-command-reference
  copilot: ({ type, data }, result) => {
    if (type === 'assistant.message') {
      add(result, 'turns', 1);
      result.answer = data.toolRequests?.length > 0 ? '' : data.content;
    }
    if (type === 'tool.execution_start') result.tools[data.toolCallId] = data.toolName;
    if (type === 'tool.execution_complete' && data.error?.code === 'denied')
      result.refused.push(result.tools[data.toolCallId]);
    if (type === 'session.error') result.error = data.message;
    // Written after the last event.
    if (type === 'ended') addUsage(result, JSON.parse(readFileSync('usage.json', 'utf8')));
  },

  // 0.61.0: https://geminicli.com/docs/cli/headless
  gemini: (event, result) => {
    if (event.type === 'message' && event.role === 'assistant') result.answer += event.content;
    if (event.type === 'tool_use') {
      result.answer = '';
      result.tools[event.tool_id] = event.tool_name;
    }
    if (['policy_violation', 'tool_not_registered'].includes(event.error?.type) && event.tool_id)
      result.refused.push(result.tools[event.tool_id]);
    if (event.type !== 'result') return;
    add(result, 'inputTokens', event.stats?.input_tokens);
    add(result, 'outputTokens', event.stats?.output_tokens);
    if (event.status === 'error') result.error = event.error?.message;
  },

  // 1.18.33: https://opencode.ai/v1/docs/cli/
  opencode: ({ type, part, error }, result) => {
    if (type === 'step_start') result.answer = '';
    if (type === 'text') result.answer += part.text;
    // With a rule, a call is refused and the session goes on. Without one, nobody answers, and the session ends.
    if (type === 'tool_use' && /rejected permission|rule which prevents/.test(part.state.error))
      result.refused.push(part.tool);
    if (type === 'step_finish') {
      if (part.reason !== 'stop') result.answer = '';
      add(result, 'turns', 1);
      add(result, 'costUsd', part.cost);
      add(result, 'inputTokens', part.tokens.input, part.tokens.cache.read, part.tokens.cache.write);
      add(result, 'outputTokens', part.tokens.output, part.tokens.reasoning);
    }
    if (type === 'error') result.error = error.data?.message ?? error.name;
  },
};

function addUsage(result, { modelMetrics }) {
  for (const { usage } of Object.values(modelMetrics)) {
    add(result, 'inputTokens', usage.inputTokens);
    add(result, 'outputTokens', usage.outputTokens);
  }
}

function add(result, key, ...numbers) {
  for (const number of numbers) if (Number.isFinite(number)) result[key] = (result[key] ?? 0) + number;
}

function read(line, reader, result) {
  try {
    reader(JSON.parse(line), result);
  } catch {
    // Not an event, because agents print notices too, or one that lacks something.
  }
}

function writeArtifacts({ answer, error, refused, tools, ...numbers }, status) {
  const text = status === 0 && !error ? (answer ?? '').trim() : '';
  const [line] = (error || text || (status === 0 ? 'No answer' : `Ended with status ${status}`)).split('\n');
  const names = [...new Set(refused)].join(', ');
  const message = `${names && `Refused: ${names}. `}${line}`.slice(0, 500);
  mkdirSync('artifacts', { recursive: true });
  writeFileSync('artifacts/result.json', JSON.stringify({ message, ...numbers }));
  if (text) writeFileSync('artifacts/answer.md', `${text}\n`);
}

const [name, command, ...commandArguments] = process.argv.slice(2);
const reader = readers[name];
if (!reader || !command) throw new Error(`name an agent (${Object.keys(readers).join(', ')}) and a command`);
// hookmill signals the whole process group: the agent ends by itself, and this process after it.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => undefined);

const result = { answer: '', refused: [], tools: {} };
const child = spawn(command, commandArguments, { stdio: ['inherit', 'pipe', 'inherit'] });
child.on('error', ({ message }) => {
  console.error(message);
  result.error = message;
});
child.stdout.pipe(process.stdout);
createInterface({ input: child.stdout }).on('line', line => read(line, reader, result));
child.on('close', (code, signal) => {
  // Of a program that could not be started, the code is negative.
  process.exitCode = signal ? 128 + constants.signals[signal] : code < 0 ? 127 : code;
  read('{"type":"ended"}', reader, result);
  writeArtifacts(result, process.exitCode);
});
