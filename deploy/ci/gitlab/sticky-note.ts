// node sticky-note.ts <file>: posts the file as a note on the merge request of the job. If the same author already posted a
// note with the same first line, replaces that note. Without HOOKMILL_COMMENT_TOKEN, only says so: the job keeps the file.
import { readFileSync } from 'node:fs';

interface Note {
  readonly id: number;
  readonly body: string;
  readonly author: { readonly id: number };
}

const pageSize = 100;
const pagesMax = 50;

const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, HOOKMILL_COMMENT_TOKEN: token } = process.env;
const notes = `/projects/${CI_PROJECT_ID}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
if (token) await post(readFileSync(process.argv[2] ?? '', 'utf8'));
else
  console.log(
    'The plan is not posted: set HOOKMILL_COMMENT_TOKEN, a project access token with the scope api.',
  );

async function post(body: string): Promise<void> {
  const existing = await findNote(body.split('\n', 1)[0] ?? '');
  const response = existing
    ? await request('PUT', `${notes}/${existing.id}`, { body })
    : await request('POST', notes, { body });
  if (response.ok) return;
  console.log(`The plan was not posted: GitLab answered ${response.status}. Check HOOKMILL_COMMENT_TOKEN.`);
  process.exitCode = 1;
}

/** Ignores a note by someone else with the same first line: its author could edit the plan in it. */
async function findNote(marker: string): Promise<Note | undefined> {
  const user = await request('GET', '/user');
  if (!user.ok) return undefined;
  const { id } = JSON.parse(await user.text());
  for (let page = 1; page <= pagesMax; page++) {
    const response = await request('GET', `${notes}?per_page=${pageSize}&page=${page}`);
    const found: readonly Note[] = response.ok ? JSON.parse(await response.text()) : [];
    const own = found.find(({ author, body }) => author.id === id && body.split(/\r?\n/, 1)[0] === marker);
    if (own || found.length < pageSize) return own;
  }
  return undefined;
}

async function request(method: string, path: string, content?: object): Promise<Response> {
  return fetch(`${CI_API_V4_URL}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', 'PRIVATE-TOKEN': token ?? '' },
    body: content ? JSON.stringify(content) : null,
  });
}
