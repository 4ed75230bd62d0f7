/** @limit Most characters in a diagnostic's message or hint: both quote text from a file, which may be long. */
export const diagnosticCharsMax = 300;

/** A place in a definition file. Lines and columns count from 1; `end` is exclusive. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Severity = 'error' | 'warning';

/** A mistake in what a user wrote: data, never thrown. `file` is named as the user would name it. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly range?: Range;
  readonly hint?: string;
}

/** Each code there is, with the rule it stands for in one line. */
export const diagnosticCodes = {
  'yaml/unreadable': 'a definition file can be read',
  'yaml/too-large': 'a definition file is at most 64 KiB',
  'yaml/too-deep': 'collections nest at most 64 deep',
  'yaml/encoding': 'a definition file is UTF-8 without NUL or other control characters',
  'yaml/syntax': 'a definition file is well-formed YAML 1.2',
  'yaml/directive': 'directives are not used',
  'yaml/multiple-documents': 'a definition file holds one document',
  'yaml/alias': 'anchors and aliases are not used',
  'yaml/tag': 'tags are not used',
  'yaml/key': 'keys are plain strings',
  'yaml/duplicate-key': 'a key stands once',
  'definition/file-name': 'a definition is named [a-z0-9][a-z0-9-]{0,62}.yaml',
  'definition/case-collision': 'no two names differ in case only',
  'definition/not-regular-file': 'a definition is a regular file',
  'definition/unknown-key': 'only known keys are written',
  'definition/missing-key': 'required keys are written',
  'definition/type': 'a value has the type of its key',
  'definition/value': 'a value is one of those its key allows',
  'webhook/scheme-unknown': 'signatureScheme names a known scheme',
  'webhook/scheme-missing': 'authMode signature needs a signatureScheme',
  'webhook/scheme-unexpected': 'signatureScheme belongs to authMode signature',
  'webhook/scheme-invalid': 'a signatureScheme object describes an HMAC that can be verified',
  'webhook/too-many': 'a factory has at most 20 webhooks',
  'webhook/renamed': 'a webhook followed from a repository keeps its file name, for its URL hangs on it',
  'factory/dashboard-managed':
    'definitions take the place of what was made in the dashboard only when told to',
  'automation/webhook-id': 'a trigger names exactly one webhook by its UID',
  'automation/duplicate-trigger': 'each trigger of an automation selects other deliveries than the rest',
  'automation/webhook-unknown': 'a trigger names a webhook that exists',
  'filter/invalid': 'a payload filter is built of arrays, operators and nested objects',
  'filter/too-large': 'a payload filter stays within its bounds',
  'fixture/invalid': 'a fixture is JSON with expect, payload and perhaps webhook',
  'fixture/failed': "a fixture's payload gets the verdict that it expects",
  'secret/missing': 'secretName names an existing team secret',
  'secret/not-url-safe': 'a url_token secret is 16 to 256 of A-Z a-z 0-9 _ ~ . -',
  'secret/not-header-safe': 'a token secret can be sent in an Authorization header',
  'secret/unusable': "a signature secret has the form its scheme's provider issues",
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;

/** A message or hint that quotes what a user wrote, cut to its bound. */
export function bounded(text: string): string {
  return text.length > diagnosticCharsMax ? `${text.slice(0, diagnosticCharsMax - 1).toWellFormed()}…` : text;
}

/** By file, then place, then code: the order in which they are always reported. */
export function sortDiagnostics(diagnostics: Iterable<Diagnostic>): Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      compare(a.file, b.file) ||
      compare(a.range?.start.line ?? 0, b.range?.start.line ?? 0) ||
      compare(a.range?.start.column ?? 0, b.range?.start.column ?? 0) ||
      compare(a.code, b.code),
  );
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(diagnostic => diagnostic.severity === 'error');
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
