import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { tools } from '../../../../../cli/mcp/tools.ts';
import { bearerOf } from '../../../../support/daemon.ts';
import { send } from '../../../../support/http.ts';
import { openMcpStage } from '../../../../support/mcp-stage.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

const files = ['.claude/skills/hookmill/SKILL.md', '.agents/skills/hookmill/SKILL.md'] as const;

test('an agent that follows the skill writes valid definitions, a plan, and gets answers', async () => {
  const { workspace, daemon, setSecret, apply } = await openMcpStage({});
  onTestFinished(() => daemon.stop());
  const { hookmill, read, write } = workspace;
  await hookmill('init', '--agents');
  const skill = read(files[0]);
  expect(read(files[1])).toBe(skill);
  const [, header = '', page = ''] = /^---\n(.*?)^---\n(.*)$/ms.exec(skill) ?? [];
  expect(parse(header)).toEqual({ name: 'hookmill', description: expect.stringMatching(/^.{50,1024}$/) });

  const secret = 'correct-horse-battery-staple';
  await setSecret('BUILDS_TOKEN', secret);
  await hookmill('secrets', 'declare', 'GITHUB_WEBHOOK');
  const printed: Record<string, string> = {};
  for (const [, language, block = ''] of page.matchAll(/^```(yaml|sh)\n(.*?)^```/gms)) {
    if (language === 'yaml') write(/^# (\S+)\n/.exec(block)?.[1] ?? '', block);
    // Before it asks, people merge its pull request, and the sender sends.
    if (language === 'sh' && block.includes('hookmill why')) {
      const { builds = '' } = await apply();
      await send(builds, { headers: bearerOf(secret), body: '{"action":"failed"}' });
    }
    for (const line of language === 'sh' ? block.trim().split('\n') : []) {
      const [program, ...words] = line.split(' ');
      expect(program).toBe('hookmill');
      const { stdout, stderr, exitCode } = await hookmill(...words);
      expect(exitCode, `${line}: ${stderr}`).toBe(0);
      printed[words[0] ?? ''] = stdout + stderr;
    }
  }
  expect(printed).toMatchObject({
    schemes: expect.stringContaining('github'),
    add: expect.stringContaining('webhooks/github.yaml'),
    validate: '3 definitions, all valid.\n',
    plan: expect.stringMatching(/builds.*fix-build/s),
    why: expect.stringContaining('fix-build matched the last delivery'),
    payloads: expect.stringContaining('$.action'),
    automations: expect.stringContaining('of the last 1 delivery, 1 matches'),
  });
  const named = [...page.matchAll(/`([a-z]+_[a-z]+)`/g)].map(([, name = '']) => name);
  expect(named.filter(name => !tools[name])).toEqual(['webhook_ids']);
});

test('init --agents keeps a skill that exists, and init alone writes none', async () => {
  const { hookmill, read, write } = makeWorkspace();
  const { created } = JSON.parse((await hookmill('init', '-o', 'json')).stdout);
  expect(created.filter((file: string) => file.endsWith('SKILL.md'))).toEqual([]);
  write(files[0], 'mine\n');
  const again = JSON.parse((await hookmill('init', '--agents', '-o', 'json')).stdout);
  expect(again).toMatchObject({ created: [files[1]], kept: expect.arrayContaining([files[0]]) });
  expect(read(files[0])).toBe('mine\n');
});
