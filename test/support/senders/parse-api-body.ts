import type { ApiRequest } from './sender-server.ts';

/** The JSON of a body. Text that is not JSON is left as text, which no description allows. */
export function parseApiBody({ body, headers }: ApiRequest): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString();
  if (!headers['content-type']?.startsWith('application/json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
