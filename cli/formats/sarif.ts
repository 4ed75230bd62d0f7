import {
  type Diagnostic,
  type DiagnosticCode,
  diagnosticCodes,
  type Range,
} from '../../schema/diagnostics.ts';
import { printable, printableJson } from '../../schema/text/printable.ts';
import { createFingerprints, type Findings } from './findings.ts';

const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];

/**
 * A SARIF 2.1.0 log, for code scanning. Each code is a rule, listed whether or not it was broken, so that readers can
 * tell a fixed finding from a removed rule.
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function renderSarif(findings: Findings): string {
  const marks = createFingerprints(findings);
  const driver = {
    name: 'hookmill',
    version: findings.version,
    rules: codes.map(rule),
  };
  const results = findings.diagnostics.map((diagnostic, index) => result(diagnostic, marks[index] ?? ''));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return `${printableJson(log)}\n`;
}

function rule(code: DiagnosticCode): object {
  const text = diagnosticCodes[code];
  return {
    id: code,
    shortDescription: { text },
    help: {
      text: `${text}; examples: docs/reference/diagnostics/${getDocsFile(code)} in the package of hookmill`,
    },
  };
}

function result({ code, severity, message, hint, file, range }: Diagnostic, fingerprint: string): object {
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: printable(hint === undefined ? message : `${message}; ${hint}`) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodePath(file), uriBaseId: '%SRCROOT%' },
          ...(range && { region: region(range) }),
        },
      },
    ],
    partialFingerprints: { 'hookmillLine/v1': fingerprint },
  };
}

function region({ start, end }: Range): object {
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

/** A relative reference (RFC 3986 section 4.2): each segment is encoded, so that no part can be read as a URI scheme. */
function encodePath(file: string): string {
  return file.toWellFormed().split('/').map(encodeURIComponent).join('/');
}

/** The name of a code's file in `docs/reference/diagnostics/`. */
export function getDocsFile(code: DiagnosticCode): string {
  return `${code.replace('/', '-')}.md`;
}
