/** @limit Most characters in a diagnostic's message or hint: both quote text from a file, which may be long. */
export const diagnosticCharsMax = 300;
/** @limit Most diagnostics that a plan, an apply or a reconcile reports: nobody reads more, and each look at a branch logs them. */
export const diagnosticsReportedMax = 100;

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

/** A mistake in a file that a user wrote. It is returned, never thrown. `file` is the name that the user knows. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly range?: Range;
  readonly hint?: string;
}

/** Every code, with its rule in one line. */
export const diagnosticCodes = {
  'yaml/unreadable': 'a definition file must be readable',
  'yaml/too-large': 'a definition file has at most 64 KiB',
  'yaml/too-deep': 'lists and mappings nest at most 64 levels deep',
  'yaml/encoding': 'a definition file is UTF-8 without control characters',
  'yaml/syntax': 'a definition file is valid YAML 1.2',
  'yaml/directive': 'a definition file has no YAML directives',
  'yaml/multiple-documents': 'a definition file contains one document',
  'yaml/alias': 'a definition file has no anchors or aliases',
  'yaml/tag': 'a definition file has no tags',
  'yaml/key': 'keys are strings',
  'yaml/changed-text': 'text that YAML would cut or change is in quotes',
  'yaml/duplicate-key': 'a key appears only once in its mapping',
  'definition/file-name': 'a definition file is named <name>.yaml, with a valid name',
  'definition/folder-name': 'definition files are in the folders webhooks and automations',
  'definition/case-collision': 'file names differ in more than upper and lower case',
  'definition/not-regular-file': 'a definition is a regular file',
  'definition/git-ignored': 'git does not ignore a definition file',
  'definition/unknown-key': 'every key is one that hookmill knows',
  'definition/missing-key': 'required keys are present',
  'definition/type': 'a value has the type that its key requires',
  'definition/value': 'a value is one that its key allows',
  'webhook/scheme-unknown': 'signatureScheme names a known scheme',
  'webhook/scheme-missing': 'authMode signature requires signatureScheme',
  'webhook/scheme-unexpected': 'signatureScheme requires authMode signature',
  'webhook/scheme-invalid': 'a signatureScheme object describes an HMAC that can be verified',
  'webhook/identity-twice': 'deliveries are identified by a header or by a field, not by both',
  'webhook/identity-repeated': 'deliveries of one event have the same identity',
  'webhook/issuer-invalid': 'issuer is the URL of an OpenID Connect issuer, or a preset',
  'webhook/sender-scheme': "a sender requires its provider's signature scheme",
  'webhook/sender-identity': "with a sender, the provider's own ID identifies deliveries",
  'webhook/sender-differs': 'the hook at the provider sends what the definition and its automations need',
  'webhook/oidc-missing': 'authMode oidc requires issuer and claims',
  'webhook/oidc-unexpected':
    'issuer, audience and claims require authMode oidc, which takes no secretName or signatureScheme',
  'webhook/claims-invalid': 'claims consist of lists and operators',
  'webhook/claims-unpinned': 'claims pin the caller, because public issuers sign for everybody',
  'webhook/header-secret': 'keepHeaders lists no header with a credential or a signature',
  'webhook/too-many': 'a factory has at most 20 webhooks',
  'webhook/renamed': 'a webhook keeps its file name, because its URL depends on it',
  'factory/duplicate': 'no two definitions directories are one factory',
  'factory/behind': 'a plan is of the merge with the branch that its factory follows',
  'factory/conflict': 'definitions merge without conflicts into the branch that their factory follows',
  'factory/dashboard-managed': 'files replace a factory managed in the dashboard only with --adopt',
  'factory/no-definitions': 'a definitions directory contains definitions',
  'factory/rewound': 'a branch that a factory follows only goes on from the applied commit',
  'factory/too-large': 'the definitions of a factory stay within its limits',
  'automation/webhook-id': 'a trigger selects exactly one webhook, by its name or its UID',
  'automation/duplicate-trigger': 'no two triggers of an automation are the same',
  'automation/duplicate': 'no two automations are the same',
  'automation/prompt': 'a prompt promises only what a run gets',
  'automation/prompt-file':
    'an automation has either prompt or promptFile, the path of a text file in the definitions directory',
  'automation/path-not-sent': 'the paths of an automation name values that its webhooks receive',
  'automation/runner-not-offered':
    'an automation asks for what the daemon offers it: a runner, a repository, artifacts',
  'automation/webhook-unknown': 'a trigger selects an existing webhook',
  'filter/invalid': 'a payload filter consists of lists, operators and nested objects',
  'filter/too-large': 'a payload filter stays within its limits',
  'filter/unknown-operator':
    'the operators of a payload filter are in, not_in, exists, $like, $not_like, $compare and $none',
  'filter/operator-misused': 'operators stand below a field, with operands of their types and no other keys',
  'filter/contradiction': 'a payload can satisfy the operators of a field together',
  'filter/empty': 'a list in a payload filter is not empty',
  'filter/repeated-value': 'a list in a payload filter contains each value once',
  'filter/case-collision':
    'the keys of an object in a payload filter differ in more than upper and lower case',
  'filter/path-as-key': 'a key of a payload filter is the name of one field, not a path',
  'filter/header': 'a payload filter names fields of the body, not request headers',
  'filter/pattern': 'a value of a payload filter is a whole value, not a pattern',
  'filter/stray-character':
    'keys and values of a payload filter have no stray spaces, quotes or invisible characters',
  'filter/field-not-sent': 'a payload filter names fields that the webhook receives',
  'filter/any-element': 'a condition that excludes elements of a list is written with $none',
  'filter/value-not-sent': 'a payload filter lists values that the webhook receives',
  'filter/type-not-sent': 'a payload filter lists values of the types that the webhook receives',
  'filter/header-not-kept': 'a header filter names headers that the webhook keeps',
  'fixture/invalid': 'a fixture is JSON with expect, payload and optionally headers and webhook',
  'fixture/failed': 'an automation decides as its fixture expects',
  'secret/pasted': 'secretName is the name of a team secret, never the secret itself',
  'secret/not-shared': 'secretName names a team secret that the factory may use',
  'secret/missing': 'secretName names an existing team secret',
  'secret/unresolved': 'the value of a team secret can be read from where its reference says',
  'secret/shared-by-schemes': 'webhooks that share a team secret use it with the same scheme',
  'secret/short': 'the value of a team secret has at least 16 bytes',
  'secret/not-url-safe': 'a url_token secret has 16–256 characters from A-Z a-z 0-9 _ ~ . -',
  'secret/not-header-safe': 'a token secret can be sent in an Authorization header',
  'secret/unusable': 'a signature secret has the format that its provider issues',
  'home/tracked': 'git tracks no file of a home',
  'report/shortened': 'a long report shows its first diagnostics, and counts the others',
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;

/** Cuts a text that may quote a long file, by default to the length of a message or hint. */
export function truncate(text: string, charsMax = diagnosticCharsMax): string {
  return text.length > charsMax ? `${text.slice(0, charsMax - 1).toWellFormed()}…` : text;
}

/** Sorts by file, then place, then code. Diagnostics are always reported in this order. */
export function sortDiagnostics(diagnostics: Iterable<Diagnostic>): Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      compare(a.file, b.file) ||
      compare(a.range?.start.line ?? 0, b.range?.start.line ?? 0) ||
      compare(a.range?.start.column ?? 0, b.range?.start.column ?? 0) ||
      compare(a.code, b.code),
  );
}

/** Shortens sorted diagnostics to those that are reported, errors before warnings. The last one counts the others. */
export function shortenReport(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  if (sorted.length <= diagnosticsReportedMax) return sorted;
  const errors = sorted.filter(({ severity }) => severity === 'error');
  const ranked = [...errors, ...sorted.filter(({ severity }) => severity !== 'error')];
  const others = ranked.splice(diagnosticsReportedMax - 1);
  const [{ file, severity } = { file: '', severity: 'error' as const }] = others;
  return [...ranked, { severity, file, ...describeOthers(others.length) }];
}

/** Adds diagnostics to a report, and shortens it again. */
export function addDiagnostics(
  report: readonly Diagnostic[],
  more: readonly Diagnostic[],
): readonly Diagnostic[] {
  return more.length === 0 ? report : shortenReport(sortDiagnostics([...report, ...more]));
}

/** The code, message and hint that count what a report leaves out. */
export function describeOthers(count: number): Pick<Diagnostic, 'code' | 'message' | 'hint'> {
  return {
    code: 'report/shortened',
    message: `${count} more diagnostics are not shown`,
    hint: 'correct those above first',
  };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(diagnostic => diagnostic.severity === 'error');
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
