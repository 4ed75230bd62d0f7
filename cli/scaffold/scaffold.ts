import { posix } from 'node:path';
import { quoteShellWord } from '../../schema/clients/render-curl.ts';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import { ciInstallScript, ciPackagePlaceholders } from './ci-install.ts';
import { createModeline, getEditorSchemaFile, getJsonSchemaText } from './json-schemas.ts';

export const ciHosts = ['github', 'gitlab'] as const;
export type CiHost = (typeof ciHosts)[number];

interface ScaffoldOptions {
  readonly factory: string;
  /** The path of the definitions directory in its repository, with `/` separators; `''` is the root. */
  readonly pathInRepository: string;
  readonly ci: readonly CiHost[];
}

export interface ScaffoldFile {
  /** The start of the path. GitHub, GitLab and pre-commit read their files only at the repository's root. */
  readonly under: 'definitions' | 'repository';
  readonly path: string;
  readonly content: string;
}

/** Creates the files of a new definitions repository. */
export function createScaffold({ factory, pathInRepository, ci }: ScaffoldOptions): readonly ScaffoldFile[] {
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
    ...ci.map(host => ({ under: 'repository' as const, ...ciFiles[host](pathInRepository) })),
    { under: 'repository', path: '.pre-commit-config.yaml', content: createPreCommitFile(pathInRepository) },
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

const ciFiles: Readonly<Record<CiHost, (path: string) => Pick<ScaffoldFile, 'path' | 'content'>>> = {
  github: path => ({ path: '.github/workflows/hookmill.yml', content: createGithubWorkflow(path) }),
  gitlab: path => ({ path: '.gitlab-ci.yml', content: createGitlabJob(path) }),
};

const packageComment =
  '# The tarball of hookmill: build it with `npm pack` in its repository, and put it where CI can get it.';

/** A pull request can change the whole checkout, so hookmill is installed before it, and the job gets no secrets. */
function createGithubWorkflow(path: string): string {
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

jobs:
  validate:
    runs-on: ubuntu-latest
    timeout-minutes: 5
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
      - name: Validate the definitions
        run: |
          hookmill() { node "$RUNNER_TEMP/hookmill/cli/bin.js" "$@"; }
          ${renderCommand('hookmill', path)} validate --format github
`;
}

function createGitlabJob(path: string): string {
  const { url, integrity } = ciPackagePlaceholders;
  const command = renderCommand('hookmill', path);
  const validate = `${command} validate --format gitlab > gl-code-quality-report.json || ${command} validate --format text`;
  return `hookmill:
  image: node:24-slim
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
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
    - hookmill() { node "$to/cli/bin.js" "$@"; }
  script:
    # The report is for the merge request; errors are also in the job's log.
    - ${quoteYaml(validate)}
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
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

function createPreCommitFile(path: string): string {
  const prefix = path === '' ? '' : `${path.replaceAll(/[^\w/-]/g, '\\$&')}/`;
  const files = `^${prefix}(${Object.values(definitionFolders).join('/|')}/|hookmill\\.yaml$)`;
  return `repos:
  - repo: local
    hooks:
      - id: hookmill-validate
        name: hookmill validate
        language: system
        entry: ${quoteYaml(`${renderCommand('hookmill', path)} validate`)}
        files: ${quoteYaml(files)}
        pass_filenames: false
`;
}

function renderCommand(command: string, path: string): string {
  return path === '' ? command : `${command} -C ${quoteShellWord(path)}`;
}

/** Quotes a YAML scalar unless it certainly needs no quotes. It uses the quotes of JSON, which YAML also reads. */
function quoteYaml(text: string): string {
  return /^[\w][\w ./@>|-]*$/.test(text) ? text : JSON.stringify(text);
}
