import { posix } from 'node:path';

export type Transport = 'https' | 'http' | 'ssh' | 'git' | 'file';

/** A repository, its production branch and where the definitions lie in it: checked, so that git may be given it. */
export interface Repository {
  /** Holds no credential. */
  readonly url: string;
  readonly transport: Transport;
  readonly branch: string;
  /** `''` for the root. */
  readonly path: string;
}

export interface RepositoryProblem {
  readonly option: 'repository' | 'branch' | 'path';
  readonly message: string;
  readonly hint: string;
}

/** Checks what the operator names. Nothing here is tried out: no process is started, no name resolved. */
export function parseRepository(
  url: string,
  branch: string,
  path: string,
): { readonly repository: Repository } | { readonly problem: RepositoryProblem } {
  const transport = transportOf(url);
  if (typeof transport !== 'string') return { problem: { option: 'repository', ...transport } };
  if (!isBranchName(branch)) {
    const hint = 'name a branch of the repository, such as main, without refs/heads/ before it';
    return { problem: { option: 'branch', message: 'not the name of a branch', hint } };
  }
  const inside = pathInside(path);
  if (inside === undefined) {
    const hint = 'name a folder of the repository relative to its root, such as deploy/hookmill';
    return { problem: { option: 'path', message: 'not a path within a repository', hint } };
  }
  return { repository: { url, transport, branch, path: inside } };
}

interface Refusal {
  readonly message: string;
  readonly hint: string;
}

const forms =
  'write https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, git://HOST/PATH or an absolute path';
// git's own form for SSH. What begins with `-` would reach ssh as an option; `::` would choose a remote helper.
const scpForm = /^(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\]):(?![:-])(?!\/\/)./;
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

function transportOf(url: string): Transport | Refusal {
  if (hasControlsOrBlanks(url)) return { message: 'the URL has blanks or control characters', hint: forms };
  if (url.startsWith('/')) return 'file';
  if (!url.includes('://')) {
    return scpForm.test(url) ? 'ssh' : { message: 'not the URL of a repository', hint: forms };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const transport = parsed && transports[parsed.protocol];
  if (!parsed || !transport || parsed.pathname.length < 2) {
    return { message: 'not a URL of a kind that is fetched from', hint: forms };
  }
  return refusalOf(parsed, transport) ?? transport;
}

const transports: Readonly<Record<string, Transport>> = {
  'https:': 'https',
  'http:': 'http',
  'ssh:': 'ssh',
  'git:': 'git',
  'file:': 'file',
};

function refusalOf(url: URL, transport: Transport): Refusal | undefined {
  // Whoever reads the process list or a log would read it too.
  if (url.password !== '' || (url.username !== '' && transport !== 'ssh')) {
    const hint = "keep it in a team secret and name that, or use git's credential helper or SSH";
    return { message: 'the URL holds a credential', hint };
  }
  if (url.username.startsWith('-') || url.hostname.startsWith('-')) {
    return { message: 'the URL holds an option in place of a host', hint: forms };
  }
  if (transport === 'file')
    return url.host === '' ? undefined : { message: 'file:// has a host', hint: forms };
  if (url.hostname === '') return { message: 'the URL has no host', hint: forms };
  if (transport === 'http' && !loopbackHosts.has(url.hostname)) {
    return {
      message: 'http:// would send the credential and the definitions in clear',
      hint: 'use https://',
    };
  }
  return undefined;
}

/** The rules of `git check-ref-format --branch`. */
function isBranchName(name: string): boolean {
  if (name === '@' || name.startsWith('-') || /[~^:?*[\\]|\.\.|@\{|\.$/.test(name)) return false;
  if (hasControlsOrBlanks(name) || name.length > 255 || name === 'HEAD') return false;
  return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

function pathInside(path: string): string | undefined {
  if (path.length > 1024 || hasControls(path) || path.startsWith('/')) return undefined;
  // A colon first would be pathspec magic.
  if (path.startsWith(':') || path.split('/').includes('..')) return undefined;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '.' ? '' : normal;
}

function hasControlsOrBlanks(text: string): boolean {
  return hasControls(text) || /\s/.test(text);
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  return /[\0-\x1f\x7f-\x9f]/.test(text);
}
