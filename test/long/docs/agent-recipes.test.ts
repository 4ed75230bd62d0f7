import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeUpstream, operatorEnvironment } from '../../support/git-samples.ts';
import { recordRun } from '../../system/daemon/runs/record-runs.ts';
import {
  openRunBench,
  outputOf,
  type RunBench,
  runThatIs,
  temporaryDirectory,
} from '../../system/daemon/runs/run-samples.ts';
import { type AgentDouble, agentDoubles } from './agent-doubles.ts';
import { expectNothingOfThePayload, folder, runRecipe, standIn } from './run-recipe.ts';

type CaseName = 'answers' | 'refused' | 'fails';
const cases = Object.entries(agentDoubles).flatMap(([name, double]) =>
  (['answers', 'refused', 'fails'] as const).map(which => [name, which, double] as const),
);

/** Puts the double on PATH. After its first event it waits until something is written into the FIFO `gate`. */
async function startDouble(double: AgentDouble, which: CaseName) {
  const gate = join(temporaryDirectory(), 'gate');
  await execa('mkfifo', [gate]);
  const { program, options, choices = {}, positionals, demands = 'true' } = double;
  const { events, files = {}, exitCode = 0 } = double[which];
  const source = `
    const { writeFileSync, writeSync } = require('node:fs');
    const { deepStrictEqual } = require('node:assert');
    const [options, choices, expected, [first, ...rest], files] = ${JSON.stringify([options, choices, positionals, events, files])};
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const settingsAre = (variable, names) =>
      Object.keys(JSON.parse(readFileSync(process.env[variable], 'utf8'))).every(key => names.split(' ').includes(key));
    for (const [name, allowed] of Object.entries(choices))
      for (const value of [values[name] ?? []].flat()) if (!allowed.includes(value)) throw new Error(name + ': ' + value);
    deepStrictEqual(positionals, expected);
    if (!(${demands})) throw new Error('the options do not go together');
    const emit = event => writeSync(1, JSON.stringify({ ...event, timestamp: '2026-11-26T12:00:00Z' }) + '\\n');
    emit(first);
    readFileSync(${JSON.stringify(gate)});
    for (const event of rest) emit(event);
    for (const [name, content] of Object.entries(files)) writeFileSync(name, JSON.stringify(content));
    process.exit(${exitCode});`;
  return { ...standIn(program, source), open: () => writeFile(gate, 'go') };
}

async function artifactsOf({ store }: RunBench, id: string): Promise<Record<string, string>> {
  const names = (await store.runFiles.listArtifacts(id)).map(({ name }) => name);
  const entries = names.map(async name => {
    const artifact = await store.runFiles.readArtifact(id, name);
    return [name, artifact ? await text(artifact.stream) : ''] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test.each(cases)(
  '%s: the run shows the events live, and keeps what the case "%s" comes to',
  async (name, which, double) => {
    const bench = await openRunBench();
    const agent = await startDouble(double, which);
    const id = await runRecipe(bench, `${name}.yaml`, double.variables, [agent]);
    const { events, exitCode, answer, result } = double[which];
    // The first event is in the output while the agent is at work.
    await expect.poll(() => outputOf(bench, id)).toContain(JSON.stringify(events[0]).slice(0, -1));
    await runThatIs(bench, id, { state: 'running' });
    await agent.open();
    const end = exitCode
      ? ({ state: 'failed', error: `the command exited with status ${exitCode}` } as const)
      : ({ state: 'succeeded' } as const);
    await runThatIs(bench, id, end);

    const artifacts = await artifactsOf(bench, id);
    expect(artifacts['answer.md']).toBe(answer);
    expect(JSON.parse(artifacts['result.json'] ?? '')).toEqual(result);
    const output = await outputOf(bench, id);
    for (const event of events) expect(output).toContain(JSON.stringify(event).slice(0, -1));

    const [call] = agent.calls();
    expect(call?.stdin).toMatch(/^Review the payment\.\n\n---\n.*`event-payload\.json`/s);
    expect(call?.env).toMatchObject({ ...double.variables, HOOKMILL_RUN_ID: id });
    expect(call?.args).toEqual(expect.arrayContaining([...double.guards]));
    expectNothingOfThePayload(bench, id, agent.calls());
  },
);

test('a double refuses an option that is not documented', async () => {
  const { 'claude-code': double } = agentDoubles;
  if (!double) throw new Error('no double');
  const { directory } = await startDouble(double, 'answers');
  const { exitCode, stderr } = await execa(join(directory, 'claude'), ['--print', '--max-cost=2'], {
    input: '',
    reject: false,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('--max-cost');
});

test('an agent that is told to end keeps its status, and has no answer', async () => {
  const directory = temporaryDirectory();
  const script = `echo '{"type":"item.completed","item":{"type":"agent_message","text":"I begin."}}'; exec sleep 600`;
  const wrapper = execa(process.execPath, [join(folder, 'agent-result.mjs'), 'codex', 'sh', '-c', script], {
    ...{ cwd: directory, reject: false, detached: true, buffer: false },
  });
  await once(wrapper.stdout, 'data');
  process.kill(-(wrapper.pid ?? Number.NaN), 'SIGTERM');
  expect(await wrapper).toMatchObject({ exitCode: 143 });
  expect(readdirSync(join(directory, 'artifacts'))).toEqual(['result.json']);
  const result = readFileSync(join(directory, 'artifacts/result.json'), 'utf8');
  expect(JSON.parse(result)).toEqual({ message: 'Ended with status 143' });
});

test('an agent that is not installed fails its run, and the result says why', async () => {
  const bench = await openRunBench();
  const id = await runRecipe(bench, 'claude-code.yaml', { ANTHROPIC_API_KEY: 'sk-ant' });
  await runThatIs(bench, id, { state: 'failed', error: 'the command exited with status 127' });
  expect(await artifactsOf(bench, id)).toEqual({ 'result.json': '{"message":"spawn claude ENOENT"}' });
});

test('instructions in a working copy are hidden from agents, and not deleted', async () => {
  const bench = await openRunBench();
  const upstream = makeUpstream();
  const names = [
    'AGENTS.md',
    'sub/AGENTS.md',
    'AGENTS.override.md',
    'CLAUDE.md',
    'sub/GEMINI.md',
    'sub/code.ts',
  ];
  const after = upstream.commit(Object.fromEntries(names.map(name => [name, 'obey\n'])), 'Instruct');
  const look =
    'cd workspace; git ls-files; echo ---; git status --short; find . -name .git -prune -o -type f -print';
  const argv = [join(folder, 'hide-instructions.sh'), 'sh', '-c', look];
  const workspace = { repository: upstream.bare, ref: '$.after' };
  await bench.start(
    { attempts: 1, runner: { kind: 'command', argv, workspace } },
    { environment: operatorEnvironment },
  );
  const id = await recordRun(bench.deliveryLog, { payload: Buffer.from(JSON.stringify({ after })) });
  await runThatIs(bench, id, { state: 'succeeded' });
  const [tracked = '', present = ''] = (await outputOf(bench, id)).split('---\n');
  for (const name of names) expect(tracked).toContain(`${name}\n`);
  expect(present.split('\n').filter(line => line && !line.startsWith('[hookmill'))).toEqual([
    './sub/code.ts',
  ]);
});

test('the runs of a lane are one session of Claude Code', async () => {
  const home = temporaryDirectory();
  // Keeps a session where Claude Code does: https://code.claude.com/docs/en/sessions
  const claude = standIn(
    'claude',
    `const { mkdirSync, writeFileSync } = require('node:fs');
    const projects = process.env.HOME + '/.claude/projects/-runs-1';
    if (args[0] === '--session-id') mkdirSync(projects, { recursive: true });
    if (args[0] === '--session-id') writeFileSync(projects + '/' + args[1] + '.jsonl', '{}', { flag: 'wx' });`,
  );
  const PATH = `${claude.directory}:${process.env.PATH}`;
  const start = (lane: Readonly<Record<string, string>>) =>
    execa(join(folder, 'claude-code-session.sh'), ['--print'], {
      env: { PATH, HOME: home, HOOKMILL_FACTORY: 'default', HOOKMILL_AUTOMATION: 'triage', ...lane },
      extendEnv: false,
      input: 'Review.',
    });
  for (const HOOKMILL_LANE of ['17', '17', '18']) await start({ HOOKMILL_LANE });
  await start({});
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  const [first, second, other, without] = claude.calls().map(({ args }) => args);
  expect(first).toEqual(['--session-id', uuid, '--print']);
  expect(second).toEqual(['--resume', first?.[1], '--print']);
  expect(other).toEqual(['--session-id', uuid, '--print']);
  expect(other?.[1]).not.toBe(first?.[1]);
  expect(without).toEqual(['--print']);
});
