// Posts the comment that an agent left, once for each run: node post-comment.mjs OWNER/REPOSITORY
//   comment.json: {"issue": 12, "body": "…"}, where 12 is the number of an issue or a pull request
// Interface: https://docs.github.com/en/rest/issues/comments
import {
  argument,
  callGitHub,
  checkLength,
  endWithout,
  fail,
  neutralise,
  readObject,
  variable,
  writeResult,
} from './safe-output.mjs';

const repository = argument(0, /^[\w.-]+\/[\w.-]+$/, 'post-comment.mjs OWNER/REPOSITORY');
endWithout('comment.json');
const { issue, body } = readObject('comment.json', { issue: 'number', body: 'string' });
if (!Number.isSafeInteger(issue) || issue < 1) fail('issue in comment.json must be a positive integer');
checkLength('The comment', body, 10_000);

// The first line is hidden. By it, a repeated attempt finds the comment.
const marker = `<!-- hookmill ${variable('HOOKMILL_RUN_ID')} -->`;
const path = `/repos/${repository}/issues/${issue}/comments`;
const posted = await findPosted();
const comment = posted ?? (await callGitHub('POST', path, { body: `${marker}\n${neutralise(body)}` }));
writeResult(`Commented on #${issue}`, comment.html_url);

async function findPosted() {
  for (let page = 1; ; page++) {
    const comments = await callGitHub('GET', `${path}?per_page=100&page=${page}`);
    const found = comments.find(one => one.body?.startsWith(marker));
    if (found || comments.length < 100) return found;
  }
}
