// Shared by post-comment.mjs, open-pull-request.mjs and send-slack-message.mjs: copy it beside them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ends the attempt with one line on standard error. */
export function fail(line) {
  console.error(line);
  process.exit(1);
}

export function variable(name) {
  return process.env[name] || fail(`${name} is not set`);
}

/** An argument of the operator, such as OWNER/REPOSITORY. */
export function argument(index, pattern, usage) {
  const value = process.argv[2 + index] ?? '';
  return pattern.test(value) ? value : fail(`Usage: ${usage}`);
}

export function artifact(name) {
  return join(variable('HOOKMILL_ARTIFACTS_DIR'), name);
}

/** Ends the attempt with success if the agent proposed nothing. An automation can require a file of its runs. */
export function endWithout(name) {
  if (existsSync(artifact(name))) return;
  console.log(`The agent left no ${name}, so there is nothing to do`);
  process.exit(0);
}

/** Reads what the agent left as text, or fails. */
export function readText(name, bytesMax) {
  if (!existsSync(artifact(name))) fail(`The agent left no ${name}`);
  const bytes = readFileSync(artifact(name));
  if (bytes.length > bytesMax) fail(`${name} has ${bytes.length} bytes; at most ${bytesMax} are allowed`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail(`${name} is not UTF-8`);
  }
}

/** Reads a JSON object with exactly these keys, each with a value of this type, or fails. */
export function readObject(name, types) {
  const text = readText(name, 64 * 1024);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    fail(`${name} is not JSON`);
  }
  const [found, wanted] = [value ?? {}, types].map(one => Object.keys(one).sort().join(', '));
  if (found !== wanted) fail(`${name} must have the keys ${wanted}, and no others`);
  for (const [key, type] of Object.entries(types))
    if (typeof value[key] !== type) fail(`${key} in ${name} must be a ${type}`);
  return value;
}

/** Fails if a text of the agent is empty or too long. */
export function checkLength(what, text, charactersMax) {
  if (text.trim() === '') fail(`${what} is empty`);
  if (text.length > charactersMax)
    fail(`${what} has ${text.length} characters; at most ${charactersMax} are allowed`);
}

/**
 * Text for GitHub that mentions nobody, loads no image and starts no HTML comment. A zero-width space after "@" ends a mention. A
 * character reference does not, because GitHub looks for mentions after it has decoded them, so these become "@" first.
 * An image would be fetched from a server that the agent chose, with whatever the agent wrote into its address.
 */
export function neutralise(text) {
  return text
    .replace(/@|&#0*64(?!\d);?|&#x0*40(?![\da-f]);?|&commat;/gi, '@\u200b')
    .replaceAll('![', '!\u200b[')
    .replace(/<(?=!|\?|(img|image|picture|source|video|audio)\b)/gi, '<\u200b');
}

/** Calls GitHub's REST API, and returns the JSON of a 2xx answer: https://docs.github.com/en/rest */
export async function callGitHub(method, path, body) {
  const answer = await request(`${process.env.GITHUB_API_URL || 'https://api.github.com'}${path}`, {
    method,
    headers: {
      Accept: 'application/vnd.github+json',
      Authorization: `Bearer ${variable('GH_TOKEN')}`,
      'User-Agent': 'hookmill',
      'X-GitHub-Api-Version': '2026-03-10',
    },
    body: body && JSON.stringify(body),
  });
  const json = await answer.json().catch(() => undefined);
  if (answer.ok && json) return json;
  return fail(`GitHub answered ${answer.status} to ${method} ${path}: ${JSON.stringify(json?.message)}`);
}

/** Fetches without following redirects. An error does not show the URL, which can be a secret. */
export async function request(url, options) {
  try {
    return await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(30_000), ...options });
  } catch (error) {
    return fail(`The request failed: ${error.cause?.code ?? error.cause?.message ?? error.name}`);
  }
}

/** Says what came of the run, for hookmill. */
export function writeResult(message, link) {
  writeFileSync(artifact('result.json'), JSON.stringify({ message, link }));
  console.log(link ? `${message}: ${link}` : message);
}
