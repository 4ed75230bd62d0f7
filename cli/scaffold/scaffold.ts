import { posix } from 'node:path';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import { quoteShellWord } from '../render/shell-word.ts';
import { version } from '../version.ts';
import { createModeline, getEditorSchemaFile } from './editor-schemas.ts';
import { getJsonSchemaText } from './json-schemas.ts';

export const ciHosts = ['github', 'gitlab'] as const;
export type CiHost = (typeof ciHosts)[number];

interface ScaffoldOptions {
  readonly factory: string;
  /** The path of the definitions directory in its repository, with `/` separators; `''` is the root. */
  readonly pathInRepository: string;
  readonly ci: readonly CiHost[];
}

export interface ScaffoldFile {
  /** Where the path starts. GitHub, GitLab and pre-commit read their files only at the repository's root. */
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

/** What git must not contain: the home with its key, and files of `plan --out`. */
export const ignoredByGit = ['.hookmill/', '*.plan'];

const gitignore = `# State, sealed secrets and their key; files of plan --out.\n${ignoredByGit.join('\n')}\n`;

function createWorkspaceFile(factory: string): string {
  return `${createModeline('workspace', 'hookmill.yaml')}factory: ${factory}
# baseUrl: https://hooks.example.com # public URL of the ingress, for the URLs that commands print
`;
}

const ciFiles: Readonly<Record<CiHost, (path: string) => Pick<ScaffoldFile, 'path' | 'content'>>> = {
  github: path => ({
    path: '.github/workflows/hookmill.yml',
    content: `name: hookmill

on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: read

jobs:
  validate:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - name: Validate the definitions
        run: ${quoteYaml(`${renderNpx(path)} validate --format github`)}
`,
  }),
  gitlab: path => ({
    path: '.gitlab-ci.yml',
    content: `hookmill:
  image: node:24-slim
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # The report is for the merge request; errors are also in the job's log.
    - ${quoteYaml(`${renderNpx(path)} validate --format gitlab > gl-code-quality-report.json || ${renderNpx(path)} validate --format text`)}
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
`,
  }),
};

function createPreCommitFile(path: string): string {
  const prefix = path === '' ? '' : `${path.replaceAll(/[^\w/-]/g, '\\$&')}/`;
  const files = `^${prefix}(${Object.values(definitionFolders).join('/|')}/|hookmill\\.yaml$)`;
  return `repos:
  - repo: local
    hooks:
      - id: hookmill-validate
        name: hookmill validate
        language: node
        additional_dependencies: [hookmill@${version}]
        entry: ${quoteYaml(`${renderCommand('hookmill', path)} validate`)}
        files: ${quoteYaml(files)}
        pass_filenames: false
`;
}

/** Pins the version: a check that changes by itself would fail correct pull requests. */
function renderNpx(path: string): string {
  return renderCommand(`npx --yes hookmill@${version}`, path);
}

function renderCommand(command: string, path: string): string {
  return path === '' ? command : `${command} -C ${quoteShellWord(path)}`;
}

/** Quotes a YAML scalar unless it certainly needs no quotes. The quotes are those of JSON, which YAML also reads. */
function quoteYaml(text: string): string {
  return /^[\w][\w ./@>|-]*$/.test(text) ? text : JSON.stringify(text);
}
