import { posix } from 'node:path';
import { definitionFolders } from '../../sources/definitions.ts';
import { ciInstallScript, ciPackagePlaceholders, quoteYaml } from './ci.ts';
import { createModeline, getEditorSchemaFile, getJsonSchemaText } from './json-schemas.ts';
import { createSkillFiles } from './skill.ts';

export const ciHosts = ['github', 'gitlab'] as const;
export type CiHost = (typeof ciHosts)[number];

interface ScaffoldOptions {
  readonly factory: string;
  /** The path of the definitions directory in its repository, with `/` separators; `.` is the root. */
  readonly directory: string;
  readonly ci: readonly CiHost[];
  /** Whether there is a skill for coding agents. By default, there is none. */
  readonly agents?: boolean;
}

export interface ScaffoldFile {
  /** The start of the path. GitHub, GitLab, pre-commit and agents read their files at the repository's root. */
  readonly under: 'definitions' | 'repository';
  readonly path: string;
  readonly content: string;
  /** Where the file lists the definitions directories that it covers, if it does. */
  readonly directories?: readonly (string | number)[];
}

/** Creates the files of a new definitions repository. */
export function createScaffold(options: ScaffoldOptions): readonly ScaffoldFile[] {
  const { factory, directory, ci, agents = false } = options;
  const folders = Object.values(definitionFolders).map(folder => posix.join(folder, '.gitkeep'));
  return [
    ...folders.map(path => ({ under: 'definitions' as const, path, content: '' })),
    { under: 'definitions', path: 'hookmill.yaml', content: createWorkspaceFile(factory) },
    { under: 'definitions', path: '.gitignore', content: gitignore },
    ...schemaKinds.map(kind => ({
      under: 'definitions' as const,
      path: getEditorSchemaFile(kind),
      content: getJsonSchemaText(kind),
    })),
    ...ci.map(host => ({ under: 'repository' as const, ...ciFiles[host](directory) })),
    {
      under: 'repository',
      path: '.pre-commit-config.yaml',
      content: createPreCommitFile(directory),
      directories: ['repos', 0, 'hooks', 0, 'args'],
    },
    ...(agents ? createSkillFiles() : []).map(file => ({ under: 'repository' as const, ...file })),
  ];
}

const schemaKinds = ['webhook', 'automation', 'workspace'] as const;

/** The patterns of files that git must not contain: the home with its key, and files of `plan --out`. */
export const ignoredByGit = ['.hookmill/', '*.plan'];

const gitignore = `# The home, with its secrets and their key, and plan files.\n${ignoredByGit.join('\n')}\n`;

function createWorkspaceFile(factory: string): string {
  return `${createModeline('workspace', 'hookmill.yaml')}factory: ${factory}
# baseUrl: https://hooks.example.com # public URL of the ingress, for the URLs that commands print
`;
}

type CiFile = Pick<ScaffoldFile, 'path' | 'content' | 'directories'>;

const ciFiles: Readonly<Record<CiHost, (directory: string) => CiFile>> = {
  github: directory => ({
    path: '.github/workflows/hookmill.yml',
    content: createGithubWorkflow(directory),
    directories: ['jobs', 'hookmill', 'strategy', 'matrix', 'directory'],
  }),
  gitlab: directory => ({
    path: '.gitlab-ci.yml',
    content: createGitlabJobs(directory),
    directories: ['.hookmill', 'parallel', 'matrix', 0, 'HOOKMILL_DIRECTORY'],
  }),
};

const packageComment =
  '# The tarball of hookmill: build it with `npm pack` in its repository, and put it where CI can get it.';
const listComment = '# The definitions directories. `hookmill init` in another one adds it here.';

/**
 * A pull request can change the whole checkout, so hookmill is installed before it. Only the steps that plan and comment get
 * a token, and they are for branches of this repository: whoever can fork it must not reach the API.
 */
function createGithubWorkflow(directory: string): string {
  const { url, integrity } = ciPackagePlaceholders;
  return `name: hookmill

on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: read

env:
  ${packageComment}
  HOOKMILL_PACKAGE: ${url}
  HOOKMILL_INTEGRITY: ${integrity}
  # The management URL of the daemon to plan with. Empty: pull requests are only validated.
  HOOKMILL_SERVER: ""

jobs:
  hookmill:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read
      pull-requests: write # for the comment
      id-token: write # for a token to plan with
    strategy:
      fail-fast: false
      matrix:
        ${listComment}
        directory:
          - ${quoteYaml(directory)}
    env:
      DIRECTORY: \${{ matrix.directory }}
    steps:
      - uses: ${actions.setupNode}
        with:
          node-version: 24
          package-manager-cache: false
      # Outside the checkout, and before it: nothing of a pull request takes part.
      - name: Install hookmill
        run: |
          to=$RUNNER_TEMP/hookmill
${indent(ciInstallScript, 10)}
      - uses: ${actions.checkout}
        with:
          persist-credentials: false
          fetch-depth: 0 # with all branches and their history: a plan is of the merge
${githubSteps}`;
}

/** The steps after the checkout. */
const githubSteps = `      - name: Validate the definitions
        run: |
          hookmill() { node "$RUNNER_TEMP/hookmill/cli/bin.js" "$@"; }
          hookmill -C "$DIRECTORY" validate --format github
      # Plans with the token of this job, if oidc.management of the daemon allows it to read. Otherwise, the secret
      # HOOKMILL_READ_TOKEN is an API token with the permission read. Forks get neither.
      - name: Plan
        id: plan
        if: env.HOOKMILL_SERVER && github.event.pull_request.head.repo.full_name == github.repository
        env:
          HOOKMILL_TOKEN: \${{ secrets.HOOKMILL_READ_TOKEN }}
        run: |
          hookmill() { node "$RUNNER_TEMP/hookmill/cli/bin.js" "$@"; }
          status=0
          hookmill -C "$DIRECTORY" plan -o markdown > "$RUNNER_TEMP/plan.md" || status=$?
          cat "$RUNNER_TEMP/plan.md" >> "$GITHUB_STEP_SUMMARY"
          exit "$status"
      - name: Comment
        if: "!cancelled() && steps.plan.outcome != 'skipped'"
        env:
          GITHUB_TOKEN: \${{ github.token }}
        run: |
          plan=$RUNNER_TEMP/plan.md
          if [ -s "$plan" ]; then node "$RUNNER_TEMP/hookmill/deploy/ci/github/sticky-comment.ts" "$plan"; fi
`;

function createGitlabJobs(directory: string): string {
  const { url, integrity } = ciPackagePlaceholders;
  return `.hookmill:
  image: node:24-slim
  parallel:
    matrix:
      ${listComment}
      - HOOKMILL_DIRECTORY:
          - ${quoteYaml(directory)}
  variables:
    ${packageComment}
    HOOKMILL_PACKAGE: ${url}
    HOOKMILL_INTEGRITY: ${integrity}
  before_script:
    # Outside the checkout: nothing of a merge request takes part.
    - to=$(mktemp -d)
    - |
      (
${indent(ciInstallScript, 8)}
      )
    - hookmill() { node "$to/cli/bin.js" -C "$HOOKMILL_DIRECTORY" "$@"; }

hookmill:
  extends: .hookmill
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # The report is for the merge request; errors are also in the job's log.
    - hookmill validate --format gitlab > gl-code-quality-report.json || hookmill validate --format text
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json

# Set these variables of the project: HOOKMILL_SERVER, the daemon's management URL; and HOOKMILL_COMMENT_TOKEN, a project
# access token with the scope api, for the comment. It plans with the token of the job, if oidc.management of the daemon
# allows it to read; otherwise, HOOKMILL_TOKEN is an API token with the permission read.
hookmill-plan:
  extends: .hookmill
  image: node:24 # with git
  variables: { GIT_DEPTH: 0 } # with all branches and their history: a plan is of the merge
  id_tokens:
    HOOKMILL_ID_TOKEN:
      aud: $HOOKMILL_SERVER
  rules:
    # Whoever can open a merge request from a fork must not reach the tokens.
    - if: $HOOKMILL_SERVER && $CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_PATH == $CI_MERGE_REQUEST_PROJECT_PATH
  script:
    - status=0
    - hookmill plan -o markdown > hookmill-plan.md || status=$?
    - if [ -s hookmill-plan.md ]; then node "$to/deploy/ci/gitlab/sticky-note.ts" hookmill-plan.md; fi
    - exit "$status"
  artifacts:
    when: always
    expose_as: hookmill plan
    paths:
      - hookmill-plan.md
`;
}

/** Pinned to commits, because a tag can be moved. */
const actions = {
  checkout: 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1',
  setupNode: 'actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0',
} as const;

function indent(text: string, columns: number): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, ' '.repeat(columns));
}

function createPreCommitFile(directory: string): string {
  const folders = [...Object.values(definitionFolders), 'prompts'];
  const files = `(^|/)((${folders.join('|')})/|hookmill\\.yaml$)`;
  return `repos:
  - repo: local
    hooks:
      - id: hookmill-validate
        name: hookmill validate
        language: system
        entry: hookmill validate
        ${listComment}
        args:
          - ${quoteYaml(directory)}
        files: ${quoteYaml(files)}
        pass_filenames: false
`;
}
