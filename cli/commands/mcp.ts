import { printable } from '../../schema/text/printable.ts';
import { openBackend } from '../backend/open-backend.ts';
import { describeError, explainNotApplied } from '../describe-error.ts';
import { printStatus, reserveOutput } from '../output.ts';
import { completeCommands } from '../render/own-commands.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill mcp`. */
export function declareMcp(command: CliCommand): void {
  command
    .explain(`answer a coding agent or chat client over the Model Context Protocol, on standard input and output

The client starts this command, and ends it; docs/agents.md has the settings of clients. Its tools only read the factory:
none of them applies, replays, retries or cancels anything, or shows a secret. With --server, an API token with the
permission read is enough.

Examples:
  hookmill mcp --server https://hooks.example.com
  hookmill mcp --factory payments --home /var/lib/hookmill`)
    .action(async (_, command: CliCommand) => serveMcp(command));
}

async function serveMcp(command: CliCommand): Promise<void> {
  const output = reserveOutput();
  const [{ backend, directory }, { createMcpServer }, { serveStdio, StdioServerTransport }] =
    await Promise.all([
      openBackend(command),
      import('../mcp/mcp-server.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
  const describe = (error: unknown, { subject }: Readonly<Record<string, unknown>>) => {
    const explained = typeof subject === 'string' ? explainNotApplied(error, directory, subject) : undefined;
    return printable(completeCommands(describeError(explained ?? error).message));
  };
  if (process.stdin.isTTY)
    printStatus(
      'This command waits for an MCP client, which starts it; docs/agents.md says how. Ctrl-C ends it.',
    );
  serveStdio(() => createMcpServer({ call: backend.call, describe }), {
    transport: new StdioServerTransport(process.stdin, output),
    onerror: ({ message }) => printStatus(`hookmill: ${printable(message)}`),
  });
}
