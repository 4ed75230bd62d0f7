import type { ParseArgsOptionsConfig } from 'node:util';

/**
 * An agent that speaks the documented interface. Its events have the shapes that the named version of the program writes,
 * without the fields that nobody here reads.
 */
export interface AgentDouble {
  readonly program: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The documented options. Any other ends the double, as it ends the agent. */
  readonly options: ParseArgsOptionsConfig;
  /** The values that an option takes. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  readonly positionals: readonly string[];
  /** Source text with `values`: what else the agent refuses. */
  readonly demands?: string;
  /** What keeps a repository from instructing the agent, and an agent from more than the page says. */
  readonly guards: readonly string[];
  readonly answers: AgentCase;
  readonly refused: AgentCase;
  readonly fails: AgentCase;
}

interface AgentCase {
  readonly events: readonly object[];
  /** Files that the agent writes into its directory at the end. */
  readonly files?: Readonly<Record<string, object>>;
  readonly exitCode?: number;
  readonly answer?: string;
  readonly result: object;
}

const text = 'Reviewed.\nAll is well.';
const answer = `${text}\n`;

/** Options by name: those with `=` take a value, those with `*` several. */
function options(names: string): ParseArgsOptionsConfig {
  const entries = names.split(' ').map(name => {
    const type = name.endsWith('=') || name.endsWith('*') ? ('string' as const) : ('boolean' as const);
    return [name.replace(/[=*]$/, ''), { type, multiple: name.endsWith('*') }];
  });
  return Object.fromEntries(entries);
}

const opusUsage = {
  ...{ inputTokens: 300, outputTokens: 90, cacheReadInputTokens: 4_000, cacheCreationInputTokens: 700 },
  costUSD: 0.25,
};

function claudeResult(fields: object): object {
  return {
    ...{ type: 'result', subtype: 'success', is_error: false, num_turns: 3, session_id: '1b4e28ba' },
    ...{ total_cost_usd: 0.25, modelUsage: { opus: opusUsage }, permission_denials: [], ...fields },
  };
}

/**
 * Claude Code 2.1.332. https://code.claude.com/docs/en/cli-reference and
 * https://code.claude.com/docs/en/agent-sdk/typescript#sdkresultmessage
 */
const claudeCode: AgentDouble = {
  program: 'claude',
  variables: { ANTHROPIC_API_KEY: 'sk-ant' },
  options: options(
    'print output-format= input-format= verbose bare restricted safe-mode strict-mcp-config mcp-config= settings= ' +
      'setting-sources= tools= allowedTools= disallowedTools= permission-mode= max-turns= max-budget-usd= model= ' +
      'session-id= resume= no-session-persistence disable-slash-commands',
  ),
  choices: {
    'output-format': ['text', 'json', 'stream-json'],
    'permission-mode': ['acceptEdits', 'auto', 'bypassPermissions', 'manual', 'dontAsk', 'plan'],
  },
  positionals: [],
  demands: `values.print && (values['output-format'] !== 'stream-json' || values.verbose) && values['max-turns'] > 0`,
  guards: ['--restricted', '--safe-mode', '--strict-mcp-config', '--tools=Read,Grep,Glob,Edit,Write'],
  answers: {
    events: [
      { type: 'system', subtype: 'init', tools: ['Read', 'Write'], session_id: '1b4e28ba' },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } },
      // A resumed session: its total is more than this run.
      claudeResult({
        ...{ result: text, total_cost_usd: 9, modelUsage: { opus: { ...opusUsage, costUSD: 9 } } },
        model_usage_since_last_result: { opus: opusUsage },
      }),
    ],
    answer,
    result: { message: 'Reviewed.', costUsd: 0.25, inputTokens: 5_000, outputTokens: 90, turns: 3 },
  },
  refused: {
    events: [
      { type: 'system', subtype: 'init', tools: ['Read', 'Write'], session_id: '1b4e28ba' },
      claudeResult({
        result: 'I could not look.',
        permission_denials: [
          { tool_name: 'Read', tool_use_id: 'toolu_1', tool_input: { file_path: '/etc' } },
        ],
      }),
    ],
    answer: 'I could not look.\n',
    result: {
      ...{ message: 'Refused: Read. I could not look.', costUsd: 0.25 },
      ...{ inputTokens: 5_000, outputTokens: 90, turns: 3 },
    },
  },
  fails: {
    events: [
      { type: 'system', subtype: 'init', tools: ['Read', 'Write'], session_id: '1b4e28ba' },
      claudeResult({
        ...{ subtype: 'error_max_turns', is_error: true, num_turns: 41 },
        errors: ['Reached maximum number of turns (40)'],
      }),
    ],
    exitCode: 1,
    result: {
      ...{ message: 'Reached maximum number of turns (40)', costUsd: 0.25 },
      ...{ inputTokens: 5_000, outputTokens: 90, turns: 41 },
    },
  },
};

const started = { type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' };
const turnCompleted = {
  type: 'turn.completed',
  usage: {
    input_tokens: 24_763,
    cached_input_tokens: 24_448,
    output_tokens: 122,
    reasoning_output_tokens: 0,
  },
};

/** Codex 0.171.0. https://developers.openai.com/codex/noninteractive and codex-rs/exec/src/exec_events.rs */
const codex: AgentDouble = {
  program: 'codex',
  variables: { CODEX_API_KEY: 'sk-codex' },
  options: options(
    'config* model= sandbox= cd= add-dir= skip-git-repo-check ephemeral ignore-user-config ignore-rules strict-config ' +
      'output-schema= color= json output-last-message=',
  ),
  choices: {
    sandbox: ['read-only', 'workspace-write', 'danger-full-access'],
    config: [
      ...['sandbox_workspace_write.exclude_slash_tmp=true', 'shell_environment_policy.inherit=core'],
      ...['web_search=disabled', 'project_doc_max_bytes=0'],
    ],
  },
  positionals: ['exec', '-'],
  demands: `values['skip-git-repo-check']`,
  guards: [
    ...['--sandbox=workspace-write', '--ignore-user-config', '--ignore-rules', '--strict-config'],
    ...['--config=project_doc_max_bytes=0', '--config=web_search=disabled'],
  ],
  answers: {
    events: [
      started,
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'I look at the files.' } },
      { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text } },
      turnCompleted,
    ],
    answer,
    result: { message: 'Reviewed.', inputTokens: 24_763, outputTokens: 122 },
  },
  refused: {
    events: [
      started,
      {
        type: 'item.completed',
        item: {
          id: 'item_0',
          type: 'command_execution',
          command: 'curl',
          exit_code: null,
          status: 'declined',
        },
      },
      { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'I could not look.' } },
      turnCompleted,
    ],
    answer: 'I could not look.\n',
    result: {
      message: 'Refused: command_execution. I could not look.',
      ...{ inputTokens: 24_763, outputTokens: 122 },
    },
  },
  fails: {
    events: [
      started,
      { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'I look at the files.' } },
      { type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized' } },
    ],
    exitCode: 1,
    result: { message: 'unexpected status 401 Unauthorized' },
  },
};

const stats = { total_tokens: 720, input_tokens: 600, output_tokens: 120, cached: 0, duration_ms: 132 };

/** Gemini CLI 0.61.0. https://geminicli.com/docs/cli/headless and packages/core/src/output/types.ts */
const gemini: AgentDouble = {
  program: 'gemini',
  variables: { GEMINI_API_KEY: 'key' },
  options: options(
    'model= prompt= skip-trust sandbox yolo approval-mode= policy* admin-policy* allowed-mcp-server-names* extensions* ' +
      'resume= session-id= include-directories* output-format= debug',
  ),
  choices: {
    'output-format': ['text', 'json', 'stream-json'],
    'approval-mode': ['default', 'auto_edit', 'yolo', 'plan'],
  },
  positionals: [],
  demands: `(values['skip-trust'] || process.exit(55)) && settingsAre('GEMINI_CLI_SYSTEM_SETTINGS_PATH',
    'security tools model admin hooksConfig skills experimental general')`,
  guards: ['--approval-mode=auto_edit'],
  answers: {
    events: [
      { type: 'init', session_id: '65ccc796', model: 'auto' },
      { type: 'message', role: 'user', content: 'Review the payment.' },
      { type: 'message', role: 'assistant', content: 'I look at the file.', delta: true },
      { type: 'tool_use', tool_name: 'read_file', tool_id: 'read_file__1', parameters: {} },
      { type: 'tool_result', tool_id: 'read_file__1', status: 'success', output: '' },
      { type: 'message', role: 'assistant', content: 'Reviewed.\n', delta: true },
      { type: 'message', role: 'assistant', content: 'All is well.', delta: true },
      { type: 'result', status: 'success', stats },
    ],
    answer,
    result: { message: 'Reviewed.', inputTokens: 600, outputTokens: 120 },
  },
  refused: {
    events: [
      { type: 'init', session_id: '65ccc796', model: 'auto' },
      { type: 'tool_use', tool_name: 'run_shell_command', tool_id: 'run_1', parameters: { command: 'ls' } },
      {
        ...{ type: 'tool_result', tool_id: 'run_1', status: 'error', output: 'Tool not found.' },
        error: { type: 'tool_not_registered', message: 'Tool not found.' },
      },
      { type: 'message', role: 'assistant', content: 'I could not look.', delta: true },
      { type: 'result', status: 'success', stats },
    ],
    answer: 'I could not look.\n',
    result: {
      ...{ message: 'Refused: run_shell_command. I could not look.' },
      ...{ inputTokens: 600, outputTokens: 120 },
    },
  },
  fails: {
    events: [
      { type: 'init', session_id: '65ccc796', model: 'auto' },
      { type: 'message', role: 'assistant', content: 'I look at the file.', delta: true },
      {
        ...{ type: 'result', status: 'error', stats },
        error: { type: 'FatalTurnLimitedError', message: 'Reached max session turns for this session.' },
      },
    ],
    exitCode: 53,
    result: {
      ...{ message: 'Reached max session turns for this session.' },
      ...{ inputTokens: 600, outputTokens: 120 },
    },
  },
};

function openCodeStep(reason: string, ...parts: readonly object[]): readonly object[] {
  const tokens = { total: 120, input: 60, output: 15, reasoning: 5, cache: { write: 10, read: 30 } };
  return [
    { type: 'step_start', sessionID: 'ses_1', part: { type: 'step-start' } },
    ...parts,
    { type: 'step_finish', sessionID: 'ses_1', part: { type: 'step-finish', reason, tokens, cost: 0.125 } },
  ];
}

function openCodeText(words: string): object {
  return { type: 'text', sessionID: 'ses_1', part: { type: 'text', text: words } };
}

function openCodeTool(state: object): object {
  return { type: 'tool_use', sessionID: 'ses_1', part: { type: 'tool', tool: 'read', callID: '1', state } };
}

/** OpenCode 1.18.33. https://opencode.ai/v1/docs/cli/ and packages/opencode/src/cli/cmd/run.ts */
const opencode: AgentDouble = {
  program: 'opencode',
  variables: { ANTHROPIC_API_KEY: 'sk-ant' },
  options: options(
    'print-logs log-level= pure command= continue session= fork share model= agent= format= file* title= attach= dir= ' +
      'port= variant= thinking auto',
  ),
  choices: { format: ['default', 'json'] },
  positionals: ['run'],
  demands: `settingsAre('OPENCODE_CONFIG', '$schema permission agent share autoupdate model')`,
  guards: ['--pure'],
  answers: {
    events: [
      ...openCodeStep(
        'tool-calls',
        openCodeText('I look at the file.'),
        openCodeTool({ status: 'completed', output: '' }),
      ),
      ...openCodeStep('stop', openCodeText(text)),
    ],
    answer,
    result: { message: 'Reviewed.', costUsd: 0.25, inputTokens: 200, outputTokens: 40, turns: 2 },
  },
  // Without a rule that denies a call, OpenCode ends after it, with status 0 and without an answer.
  refused: {
    events: openCodeStep(
      'tool-calls',
      openCodeText('I look at the file.'),
      openCodeTool({
        status: 'error',
        error: 'The user rejected permission to use this specific tool call.',
      }),
    ),
    result: {
      message: 'Refused: read. No answer',
      ...{ costUsd: 0.125, inputTokens: 100, outputTokens: 20, turns: 1 },
    },
  },
  fails: {
    events: [
      {
        ...{ type: 'error', sessionID: 'ses_1' },
        error: { name: 'APIError', data: { message: 'invalid x-api-key', statusCode: 401 } },
      },
    ],
    exitCode: 1,
    result: { message: 'invalid x-api-key' },
  },
};

function copilotMessage(content: string, ...tools: readonly string[]): object {
  const toolRequests = tools.map(name => ({ toolCallId: name, name, arguments: {}, type: 'function' }));
  return { type: 'assistant.message', data: { messageId: '1', model: 'auto', content, toolRequests } };
}

function copilotResult(exitCode: number): object {
  return { type: 'result', sessionId: '4ac0fc47', exitCode, usage: { premiumRequests: 0 } };
}

const usage = { inputTokens: 500, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const files = { 'usage.json': { modelMetrics: { auto: { requests: { count: 2, cost: 0 }, usage } } } };

/** Copilot CLI 1.0.102. https://docs.github.com/copilot/reference/copilot-cli-reference/cli-command-reference */
const copilot: AgentDouble = {
  program: 'copilot',
  variables: { COPILOT_GITHUB_TOKEN: 'github_pat' },
  options: options(
    'prompt= silent model= resume= session-id= allow-all-tools allow-all-paths allow-all disallow-temp-dir log-level= ' +
      'stream= output-format= add-dir* disable-builtin-mcps disable-mcp-server* allow-tool* deny-tool* available-tools* ' +
      'excluded-tools* secret-env-vars* allow-url* deny-url* no-custom-instructions no-auto-update no-ask-user no-color ' +
      'no-remote max-ai-credits= usage-output-file=',
  ),
  choices: { 'output-format': ['text', 'json'], 'allow-tool': ['write'] },
  positionals: [],
  demands: `values['max-ai-credits'] >= 30 && values['usage-output-file'] === 'usage.json'`,
  guards: [
    ...['--no-custom-instructions', '--disable-builtin-mcps', '--no-ask-user', '--allow-tool=write'],
    ...['--disallow-temp-dir', '--available-tools=view,glob,grep,rg,create,edit,apply_patch'],
  ],
  answers: {
    events: [
      { type: 'user.message', data: { content: 'Review the payment.' } },
      copilotMessage('I look at the file.', 'view'),
      { type: 'tool.execution_start', data: { toolCallId: 'view', toolName: 'view', arguments: {} } },
      { type: 'tool.execution_complete', data: { toolCallId: 'view', success: true, result: {} } },
      copilotMessage(text),
      copilotResult(0),
    ],
    files,
    answer,
    result: { message: 'Reviewed.', inputTokens: 500, outputTokens: 100, turns: 2 },
  },
  refused: {
    events: [
      copilotMessage('', 'view'),
      { type: 'tool.execution_start', data: { toolCallId: 'view', toolName: 'view', arguments: {} } },
      {
        type: 'tool.execution_complete',
        data: { toolCallId: 'view', success: false, error: { message: 'Denied', code: 'denied' } },
      },
      copilotMessage('I could not look.'),
      copilotResult(0),
    ],
    files,
    answer: 'I could not look.\n',
    result: {
      message: 'Refused: view. I could not look.',
      ...{ inputTokens: 500, outputTokens: 100, turns: 2 },
    },
  },
  fails: {
    events: [
      {
        type: 'session.error',
        data: { errorType: 'authentication', message: 'Authentication failed', statusCode: 401 },
      },
      copilotResult(1),
    ],
    exitCode: 1,
    result: { message: 'Authentication failed' },
  },
};

/** By the names of the recipes. */
export const agentDoubles: Readonly<Record<string, AgentDouble>> = {
  'claude-code': claudeCode,
  codex,
  copilot,
  gemini,
  opencode,
};
