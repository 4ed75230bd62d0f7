import { posix } from 'node:path';

/** @limit Longest branch name, in characters: file systems limit the names of refs to it. */
const branchCharsMax = 255;
/** @limit Longest path of the definitions in a repository, in characters: real paths are far shorter. */
const pathCharsMax = 1_024;

export type Transport = 'https' | 'http' | 'ssh' | 'git' | 'file';

/** A repository, its production branch and the path of its definitions: checked, so that git can be called with them. */
export interface Repository {
  /** Contains no credential. */
  readonly url: string;
  readonly transport: Transport;
  readonly branch: string;
  /** `''` for the root. */
  readonly path: string;
}

export interface RepositoryMistake {
  readonly option: 'repository' | 'branch' | 'path';
  readonly message: string;
  readonly hint: string;
}

/** Checks the operator's settings, without starting a process or resolving a name. */
export function parseRepository(
  url: string,
  branch: string,
  path: string,
): { readonly repository: Repository } | { readonly mistake: RepositoryMistake } {
  const transport = parseTransport(url);
  if (typeof transport !== 'string') return { mistake: { option: 'repository', ...transport } };
  if (!isBranchName(branch)) {
    const hint = 'write the name of a branch without refs/heads/, e.g. main';
    return { mistake: { option: 'branch', message: 'invalid branch name', hint } };
  }
  const inside = pathInside(path);
  if (inside === undefined) {
    const hint = 'write a folder relative to the root of the repository, e.g. deploy/hookmill';
    return { mistake: { option: 'path', message: 'invalid path', hint } };
  }
  return { repository: { url, transport, branch, path: inside } };
}

interface Mistake {
  readonly message: string;
  readonly hint: string;
}

const forms =
  'write https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, git://HOST/PATH or an absolute path';
// Git's short form for SSH. A part that begins with `-` would be an option of ssh; `::` would select a remote helper.
const scpForm = /^(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\]):(?![:-])(?!\/\/)./;
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

function parseTransport(url: string): Transport | Mistake {
  if (hasControlsOrBlanks(url))
    return { message: 'the URL contains blanks or control characters', hint: forms };
  if (url.startsWith('/')) return 'file';
  if (!url.includes('://')) {
    return scpForm.test(url) ? 'ssh' : { message: 'invalid repository URL', hint: forms };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const transport = parsed && transports[parsed.protocol];
  if (!parsed || !transport || parsed.pathname.length < 2) {
    return { message: 'unsupported kind of URL', hint: forms };
  }
  return findUrlMistake(parsed, transport) ?? transport;
}

const transports: Readonly<Record<string, Transport>> = {
  'https:': 'https',
  'http:': 'http',
  'ssh:': 'ssh',
  'git:': 'git',
  'file:': 'file',
};

function findUrlMistake(url: URL, transport: Transport): Mistake | undefined {
  // Process lists and logs would show a credential in the URL.
  if (url.password !== '' || (url.username !== '' && transport !== 'ssh')) {
    const hint = "store it as a team secret and name that secret, or use git's credential helper or SSH";
    return { message: 'the URL contains a credential', hint };
  }
  if (url.username.startsWith('-') || url.hostname.startsWith('-')) {
    return { message: 'the user or host in the URL starts with -', hint: forms };
  }
  if (transport === 'file')
    return url.host === '' ? undefined : { message: 'a file:// URL cannot have a host', hint: forms };
  if (url.hostname === '') return { message: 'the URL has no host', hint: forms };
  if (transport === 'http' && !loopbackHosts.has(url.hostname)) {
    return {
      message: 'http:// would send the credential and the definitions unencrypted',
      hint: 'use https://',
    };
  }
  return undefined;
}

/** Checks a name by the rules of `git check-ref-format --branch`. */
export function isBranchName(name: string): boolean {
  if (name === '@' || name.startsWith('-') || /[~^:?*[\\]|\.\.|@\{|\.$/.test(name)) return false;
  if (hasControlsOrBlanks(name) || name.length > branchCharsMax || name === 'HEAD') return false;
  return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

function pathInside(path: string): string | undefined {
  if (path.length > pathCharsMax || hasControls(path) || path.startsWith('/')) return undefined;
  // A leading colon is special in git's pathspecs.
  if (path.startsWith(':') || path.split('/').includes('..')) return undefined;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '.' ? '' : normal;
}

function hasControlsOrBlanks(text: string): boolean {
  return hasControls(text) || /\s/.test(text);
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this looks for
  return /[\0-\x1f\x7f-\x9f]/.test(text);
}
