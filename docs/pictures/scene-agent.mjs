// What the runs of the factory in the pictures execute: it prints what an agent would, takes as long as one on the clock of the
// scene, and leaves a result. Its argument is the file of the clock.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const [clock] = process.argv.slice(2);
const now = () => Date.now() + readFileSync(clock).readDoubleLE();
const payload = JSON.parse(readFileSync('event-payload.json', 'utf8'));

/** By automation: how many seconds it takes, its output, and its result. */
const work = {
  'review-pull-request': () => ({
    seconds: 40 + 60 * payload.pull_request.changed_files,
    lines: [
      `Reading acme/${payload.repository.name}#${payload.number} at ${payload.pull_request.head.sha}`,
      `${payload.pull_request.changed_files} files changed`,
      'src/tax/rates.ts: the rate for CH is a string here, and a number in rates.test.ts',
      'Running npm test',
      '  212 passed, 0 failed',
    ],
    message: `Reviewed #${payload.number}: ${payload.pull_request.changed_files} files, 2 comments`,
    costUsd: 0.06 + 0.07 * payload.pull_request.changed_files,
    isEndless: payload.number === 491,
  }),
  'triage-error': () => ({
    seconds: 95,
    lines: [
      `Looking for "${payload.data.error.title}"`,
      'git log -S "shippingZone" -- src/cart',
      'Introduced by 7d3e0c1 (Let carts have a zone)',
    ],
    message: `${payload.data.error.title}: introduced by 7d3e0c1, fix proposed`,
    costUsd: 0.31,
  }),
  'investigate-deploy': () => ({
    seconds: 150,
    lines: [
      `Reading the log of the deploy of ${payload.service} ${payload.commit}`,
      'Cloning acme/deploys',
      'Checking out 9fceb02',
    ],
    error: 'fatal: could not read from remote repository: the deploy key has expired',
  }),
  'write-release-notes': () => ({
    seconds: 35,
    lines: [`${payload.service} ${payload.commit}: 4 commits since the last release`],
    message: `Release notes for ${payload.service} ${payload.commit}`,
    costUsd: 0.04,
  }),
  'label-issue': () => ({
    seconds: 8,
    lines: [`#${payload.issue.number} is about ${payload.issue.title}`],
    message: `Labelled #${payload.issue.number} as bug`,
    costUsd: 0.01,
  }),
};

const startedAtMs = now();
const { seconds, lines, message, costUsd, error, isEndless } = work[process.env.HOOKMILL_AUTOMATION]();
const stepMs = (seconds * 1_000) / (lines.length + 1);
for (const [index, line] of lines.entries()) {
  while (now() < startedAtMs + (index + 1) * stepMs) await setTimeout(10);
  console.log(line);
}
while (isEndless || now() < startedAtMs + seconds * 1_000) await setTimeout(10);
if (error) {
  console.error(error);
  process.exit(128);
}
mkdirSync('artifacts');
const turns = lines.length * 3;
writeFileSync(
  'artifacts/result.json',
  JSON.stringify({ message, costUsd, turns, inputTokens: 9_000 * turns, outputTokens: 400 * turns }),
);
writeFileSync('artifacts/notes.md', `${message}\n`);
