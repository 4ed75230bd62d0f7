import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startLoopbackServer } from './loopback-server.ts';

/**
 * Starts a server that passes requests on to another one, and alters its answers, in JSON and as bytes: what somebody else's server may
 * send to the command line. Ends with the test. Returns its URL.
 */
export function startAlteringServer(
  url: string,
  // biome-ignore lint/suspicious/noExplicitAny: an altered answer may have any shape
  alter: (answer: any, path: string) => unknown,
  alterBody: (body: Buffer) => string | Uint8Array = body => body,
): Promise<string> {
  return startLoopbackServer(({ url: path = '', method, headers }, response) => {
    const passed = request(url + path, { method, headers }, async answer => {
      const body = await buffer(answer);
      const isJson = answer.headers['content-type']?.includes('json');
      const altered = isJson ? JSON.stringify(alter(JSON.parse(`${body}`), path)) : alterBody(body);
      response
        .writeHead(answer.statusCode ?? 0, isJson ? { 'content-type': 'application/json' } : {})
        .end(altered);
    });
    passed.end();
  });
}
