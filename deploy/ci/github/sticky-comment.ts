// node sticky-comment.ts <file>: posts the file as a comment on the pull request of the workflow's event. If the same
// author already posted a comment with the same first line, replaces that comment.
import { readFileSync } from 'node:fs';

interface Comment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string } | null;
}

const pageSize = 100;
const pagesMax = 50;

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH = '', GITHUB_TOKEN } = process.env;
const body = readFileSync(process.argv[2] ?? '', 'utf8');
const marker = body.split('\n', 1)[0] ?? '';
const { number } = JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')).pull_request;

const comments = `/repos/${GITHUB_REPOSITORY}/issues/${number}/comments`;
const existing = await findComment(await login());
const response = existing
  ? await request('PATCH', `/repos/${GITHUB_REPOSITORY}/issues/comments/${existing.id}`, { body })
  : await request('POST', comments, { body });
if (response.status === 403 || response.status === 404) {
  const cause = `GitHub answered ${response.status}. Give the job the permission "pull-requests: write".`;
  console.log(`::warning title=hookmill::The plan was not posted; see the job's summary. ${cause}`);
} else if (!response.ok) {
  console.log(`::error title=hookmill::The plan was not posted: GitHub answered ${response.status}.`);
  process.exitCode = 1;
}

/** Returns the author of comments made with the token. GitHub does not let a workflow's own token ask for it. */
async function login(): Promise<string> {
  const response = await request('GET', '/user');
  return response.ok ? JSON.parse(await response.text()).login : 'github-actions[bot]';
}

/** Ignores a comment by someone else with the same first line: its author could edit the plan in it. */
async function findComment(author: string): Promise<Comment | undefined> {
  for (let page = 1; page <= pagesMax; page++) {
    const response = await request('GET', `${comments}?per_page=${pageSize}&page=${page}`);
    const found: readonly Comment[] = response.ok ? JSON.parse(await response.text()) : [];
    const own = found.find(
      ({ user, body }) => user?.login === author && body.split(/\r?\n/, 1)[0] === marker,
    );
    if (own || found.length < pageSize) return own;
  }
  return undefined;
}

async function request(method: string, path: string, content?: object): Promise<Response> {
  return fetch(`${GITHUB_API_URL}${path}`, {
    method,
    headers: {
      Accept: 'application/vnd.github+json',
      Authorization: `Bearer ${GITHUB_TOKEN}`,
      'X-GitHub-Api-Version': '2022-11-28',
    },
    body: content ? JSON.stringify(content) : null,
  });
}
