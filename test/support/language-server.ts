import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';

const server = join(import.meta.dirname, '../../node_modules/yaml-language-server/bin/yaml-language-server');

export interface LspPosition {
  readonly line: number;
  readonly character: number;
}

export interface LspDiagnostic {
  readonly message: string;
  readonly range: { readonly start: LspPosition; readonly end: LspPosition };
}

/** An editor's side of the language server protocol, as far as tests need it. */
export interface LanguageServer {
  /** Opens a document, which need not exist, and returns the server's diagnostics. */
  open(path: string, text: string): Promise<readonly LspDiagnostic[]>;
  /** The labels of the completions at a place. */
  complete(path: string, position: LspPosition): Promise<readonly string[]>;
  /** The hover text at a place. */
  hover(path: string, position: LspPosition): Promise<string>;
  stop(): Promise<void>;
}

/** Starts yaml-language-server. It uses only the schemas that documents name in their modelines, not the network. */
export async function startLanguageServer(root: string): Promise<LanguageServer> {
  const child = execa(process.execPath, [server, '--stdio'], {
    reject: false,
    buffer: false,
    encoding: 'buffer',
  });
  const waiting = new Map<number, (result: unknown) => void>();
  const published = new Map<string, (diagnostics: readonly LspDiagnostic[]) => void>();
  const uri = (path: string) => pathToFileURL(path).href;

  const send = (message: object) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    child.stdin.write(body);
  };
  const request = <T>(method: string, params: object): Promise<T> => {
    const id = waiting.size + 1;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(id, resolve);
    send({ id, method, params });
    return promise as Promise<T>;
  };
  readMessages(child.stdout, message => {
    const { id, method, params, result } = message;
    if (method === undefined) waiting.get(Number(id))?.(result);
    else if (method === 'textDocument/publishDiagnostics' && params)
      published.get(params.uri)?.(params.diagnostics);
    // The server asks for its settings; after null, it uses its defaults.
    else if (id !== undefined) send({ id, result: null });
  });

  await request('initialize', { processId: process.pid, rootUri: uri(root), capabilities: {} });
  send({ method: 'initialized', params: {} });
  const settings = {
    yaml: { completion: true, hover: true, validate: true, schemaStore: { enable: false } },
  };
  send({ method: 'workspace/didChangeConfiguration', params: { settings } });
  return {
    open: (path, text) => {
      const { promise, resolve } = Promise.withResolvers<readonly LspDiagnostic[]>();
      published.set(uri(path), resolve);
      const textDocument = { uri: uri(path), languageId: 'yaml', version: 1, text };
      send({ method: 'textDocument/didOpen', params: { textDocument } });
      return promise;
    },
    complete: async (path, position) => {
      const params = { textDocument: { uri: uri(path) }, position };
      const { items } = await request<{ items: { label: string }[] }>('textDocument/completion', params);
      return items.map(({ label }) => label);
    },
    hover: async (path, position) => {
      const params = { textDocument: { uri: uri(path) }, position };
      const found = await request<{ contents: { value: string } } | null>('textDocument/hover', params);
      return found?.contents.value ?? '';
    },
    stop: async () => {
      child.kill();
      await child;
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly uri: string; readonly diagnostics: readonly LspDiagnostic[] };
  readonly result?: unknown;
}

/** Reads messages of the base protocol: a header with the length, a blank line, and JSON. */
function readMessages(stream: NodeJS.ReadableStream, take: (message: Message) => void): void {
  let buffered = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      const headEnd = buffered.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(buffered.subarray(0, headEnd).toString())?.[1]);
      const bodyEnd = headEnd + 4 + length;
      if (headEnd < 0 || buffered.length < bodyEnd) return;
      take(JSON.parse(buffered.subarray(headEnd + 4, bodyEnd).toString()));
      buffered = buffered.subarray(bodyEnd);
    }
  });
}
