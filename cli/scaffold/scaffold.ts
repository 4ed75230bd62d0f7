import { posix } from 'node:path';
import { definitionFolders } from '../../sources/definition-file-name.ts';
import { shellWord } from '../render/shell-word.ts';
import { version } from '../version.ts';
import { editorSchemaFile, modeline } from './editor-schemas.ts';
import { jsonSchemaText } from './json-schemas.ts';

export const ciHosts = ['github', 'gitlab'] as const;
export type CiHost = (typeof ciHosts)[number];

export interface ScaffoldOptions {
  readonly factory: string;
  /** Where the definitions directory lies in its repository, with `/`; `''` at its root. */
  readonly pathInRepository: string;
  readonly ci: readonly CiHost[];
}

export interface ScaffoldFile {
  /** What the path starts from: forges and pre-commit look at the repository's root only. */
  readonly under: 'definitions' | 'repository';
  readonly path: string;
  readonly content: string;
}

/** The files of a new definitions repository. */
export function scaffold({ factory, pathInRepository, ci }: ScaffoldOptions): readonly ScaffoldFile[] {
  const folders = Object.values(definitionFolders).map(folder => posix.join(folder, '.gitkeep'));
  return [
    ...folders.map(path => ({ under: 'definitions' as const, path, content: '' })),
    { under: 'definitions', path: 'hookmill.yaml', content: workspace(factory) },
    { under: 'definitions', path: '.gitignore', content: gitignore },
    ...schemaKinds.map(kind => ({
      under: 'definitions' as const,
      path: editorSchemaFile(kind),
      content: jsonSchemaText(kind),
    })),
    ...ci.map(host => ({ under: 'repository' as const, ...ciFiles[host](pathInRepository) })),
    { under: 'repository', path: '.pre-commit-config.yaml', content: preCommit(pathInRepository) },
  ];
}

const schemaKinds = ['webhook', 'automation', 'workspace'] as const;

/** The line that keeps the home, and with it the key, out of git. */
export const ignoredHome = '.hookmill/';

const gitignore = `# State, sealed secrets and their key.\n${ignoredHome}\n`;

function workspace(factory: string): string {
  return `${modeline('workspace', 'hookmill.yaml')}factory: ${factory}
# baseUrl: https://hooks.example.com # the public URL of the ingress, for the URLs that are printed
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
        run: ${yamlText(`${npx(path)} validate --format github`)}
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
    # The report is for the merge request; where there are errors, the job's log has them too.
    - ${yamlText(`${npx(path)} validate --format gitlab > gl-code-quality-report.json || ${npx(path)} validate --format text`)}
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
`,
  }),
};

function preCommit(path: string): string {
  const prefix = path === '' ? '' : `${path.replaceAll(/[^\w/-]/g, '\\$&')}/`;
  const files = `^${prefix}(${Object.values(definitionFolders).join('/|')}/|hookmill\\.yaml$)`;
  return `repos:
  - repo: local
    hooks:
      - id: hookmill-validate
        name: hookmill validate
        language: node
        additional_dependencies: [hookmill@${version}]
        entry: ${yamlText(`${hookmill('hookmill', path)} validate`)}
        files: ${yamlText(files)}
        pass_filenames: false
`;
}

/** Pinned: a check that changes by itself fails pull requests that did nothing wrong. */
function npx(path: string): string {
  return hookmill(`npx --yes hookmill@${version}`, path);
}

function hookmill(command: string, path: string): string {
  return path === '' ? command : `${command} -C ${shellWord(path)}`;
}

/** A YAML scalar. What is not plainly plain is written as JSON, which YAML reads. */
function yamlText(text: string): string {
  return /^[\w][\w ./@>|-]*$/.test(text) ? text : JSON.stringify(text);
}
