import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tools } from '../../../cli/mcp/tools.ts';
import { parseHookmill } from '../../support/hookmill-command-line.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/agents.md'), 'utf8');

test('docs/agents.md names every tool, with the operation that answers it', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| `(\w+)`/gm)].map(([, tool, operation]) => [tool, operation]);
  expect(rows).toEqual(Object.entries(tools).map(([name, { operation }]) => [name, operation]));
});

test('docs/agents.md has configurations that start the server', () => {
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => JSON.parse(json));
  const servers = blocks.map(({ mcpServers, servers }) => (mcpServers ?? servers).hookmill);
  const inToml = /^args = (\[.*\])$/m.exec(page)?.[1] ?? '';
  const args = [...servers.map(({ args }) => args), JSON.parse(inToml)];
  expect(args).toHaveLength(3);
  for (const words of args) expect(parseHookmill(words)).toBeUndefined();
  for (const { command, env } of servers) {
    expect(command).toBe('hookmill');
    expect(Object.keys(env)).toEqual(['HOOKMILL_TOKEN']);
  }
});
