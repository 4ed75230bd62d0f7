import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import Ajv from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderGithub, renderGitlab } from '../../../../cli/formats/annotations.ts';
import type { Findings } from '../../../../cli/formats/findings.ts';
import { renderJunit } from '../../../../cli/formats/junit.ts';
import { renderSarif } from '../../../../cli/formats/sarif.ts';
import { type Diagnostic, type DiagnosticCode, diagnosticCodes } from '../../../../schema/diagnostics.ts';
import { anyText } from '../../../support/any-text.ts';

const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];

function findings(diagnostics: readonly Diagnostic[], texts: Record<string, string> = {}): Findings {
  const count = (severity: string) => diagnostics.filter(found => found.severity === severity).length;
  return {
    diagnostics,
    texts: new Map(Object.entries(texts)),
    errorCount: count('error'),
    warningCount: count('warning'),
    version: '1.2.3',
  };
}

const place = { start: { line: 2, column: 3 }, end: { line: 2, column: 9 } };
const unknownKey: Diagnostic = {
  code: 'definition/unknown-key',
  severity: 'error',
  message: 'unknown key "enabld"',
  file: 'webhooks/a.yaml',
  range: place,
  hint: 'did you mean enabled?',
};

const position = fc.record({
  line: fc.integer({ min: 1, max: 9_999 }),
  column: fc.integer({ min: 1, max: 9_999 }),
});
// Any code point, and code units that are none: file names and messages may hold half a surrogate pair.
const text = fc.oneof(
  anyText(40),
  fc.array(fc.nat({ max: 0xffff }), { maxLength: 40 }).map(units => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('%', '\n', '\r', ',', ':', '::error::', '<', '&', ']]>', '\ud800', '\uffff'), {
      maxLength: 8,
    })
    .map(parts => parts.join('')),
);
const anyDiagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  {
    code: fc.constantFrom(...codes),
    severity: fc.constantFrom('error', 'warning'),
    message: text,
    file: text.filter(file => file !== ''),
    range: fc.tuple(position, fc.nat({ max: 3 }), fc.nat({ max: 40 })).map(([start, lines, columns]) => ({
      start,
      end: { line: start.line + lines, column: start.column + columns },
    })),
    hint: text,
  },
  { requiredKeys: ['code', 'severity', 'message', 'file'] },
);

describe('github', () => {
  /** As the runner reads a command (actions/runner, ActionCommand.cs). */
  function read(line: string) {
    const [, name, properties = '', data = ''] = /^::(\w+) (.*?)::(.*)$/s.exec(line) ?? [];
    const unescaped = (escaped: string) =>
      escaped
        .replaceAll('%0D', '\r')
        .replaceAll('%0A', '\n')
        .replaceAll('%3A', ':')
        .replaceAll('%2C', ',')
        .replaceAll('%25', '%');
    const pairs = properties.split(',').map(pair => {
      const [key = '', ...value] = pair.split('=');
      return [key, unescaped(value.join('='))];
    });
    return { name, data: unescaped(data), ...Object.fromEntries(pairs) };
  }

  test('is a command with the place, the code as its title, and the hint below the message', () => {
    expect(renderGithub(findings([unknownKey]))).toBe(
      '::error file=webhooks/a.yaml,line=2,endLine=2,col=3,endColumn=9,title=definition/unknown-key::' +
        'unknown key "enabld"%0Adid you mean enabled?\n',
    );
  });

  test('escapes what would end a property, a message or a line', () => {
    const file = '50%, or: more';
    const [line = '', rest] = renderGithub(findings([{ ...unknownKey, file, message: '100% :, x' }])).split(
      '\n',
    );
    expect(line).toContain('file=50%25%2C or%3A more,');
    expect(line).toContain('::100%25 :, x%0Adid');
    expect(rest).toBe('');
  });

  test('names no columns of a range over several lines, which the runner refuses', () => {
    const range = { start: { line: 1, column: 4 }, end: { line: 3, column: 1 } };
    expect(renderGithub(findings([{ ...unknownKey, range }]))).toContain('line=1,endLine=3,title=');
  });

  test('has errors before warnings, each in their order, for GitHub shows but ten of each', () => {
    const named = (message: string, severity: 'error' | 'warning'): Diagnostic => ({
      ...unknownKey,
      message,
      severity,
    });
    const lines = renderGithub(
      findings([named('1', 'warning'), named('2', 'error'), named('3', 'warning'), named('4', 'error')]),
    ).split('\n');
    expect(lines.map(line => /::(\d)/.exec(line)?.[1])).toEqual(['2', '4', '1', '3', undefined]);
  });

  test('is one command for each diagnostic whatever is in it, and nothing of it is another command', () => {
    fc.assert(
      fc.property(fc.array(anyDiagnostic, { maxLength: 4 }), diagnostics => {
        const lines = renderGithub(findings(diagnostics))
          .split(/\r\n|[\n\r]/)
          .slice(0, -1);
        expect(lines).toHaveLength(diagnostics.length);
        for (const line of lines) {
          const command = read(line);
          expect(['error', 'warning']).toContain(command.name);
          expect(codes).toContain(command.title);
        }
      }),
    );
  });
});

describe('sarif', () => {
  const ajv = addFormats.default(new Ajv.default({ strict: false, unicodeRegExp: false }));
  const validate = ajv.compile(sarifSchema);
  const log = (diagnostics: readonly Diagnostic[], texts?: Record<string, string>) =>
    JSON.parse(renderSarif(findings(diagnostics, texts)));

  test('conforms to the schema of SARIF 2.1.0 whatever is found', () => {
    fc.assert(
      fc.property(fc.array(anyDiagnostic, { maxLength: 4 }), diagnostics => {
        validate(log(diagnostics));
        expect(validate.errors).toBeNull();
      }),
    );
  });

  test('refers to files from the root of the repository, encoded', () => {
    const [result] = log([{ ...unknownKey, file: 'a b/ü:#%.yaml' }]).runs[0].results;
    expect(result.locations[0].physicalLocation.artifactLocation).toEqual({
      uri: 'a%20b/%C3%BC%3A%23%25.yaml',
      uriBaseId: '%SRCROOT%',
    });
  });

  test('has a rule for each code, with its page, and results that point at their rule', () => {
    const { tool, results } = log([unknownKey]).runs[0];
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(codes);
    expect(tool.driver.rules[results[0].ruleIndex]).toMatchObject({
      id: 'definition/unknown-key',
      help: { text: expect.stringContaining('docs/reference/diagnostics/definition-unknown-key.md') },
    });
    expect(results[0].ruleId).toBe('definition/unknown-key');
  });
});

describe('fingerprints', () => {
  const marks = (diagnostics: readonly Diagnostic[], texts: Record<string, string>) =>
    JSON.parse(renderGitlab(findings(diagnostics, texts))).map(
      ({ fingerprint }: { fingerprint: string }) => fingerprint,
    );
  const file = 'webhooks/a.yaml';
  const below = { start: { line: 4, column: 1 }, end: { line: 4, column: 7 } };

  test('stay when lines come before the mistake or its indentation changes', () => {
    expect(marks([{ ...unknownKey, range: below }], { [file]: '#\n#\n#\nenabld: true\n' })).toEqual(
      marks([unknownKey], { [file]: '#\n  enabld: true\n' }),
    );
  });

  test('differ by code, file, text of the line, and among equal lines', () => {
    const texts = { [file]: '#\nenabld: true\n#\nenabld: true\n', 'webhooks/b.yaml': '#\nenabld: true\n' };
    const found = marks(
      [
        unknownKey,
        { ...unknownKey, range: below },
        { ...unknownKey, code: 'definition/value' },
        { ...unknownKey, file: 'webhooks/b.yaml' },
        { ...unknownKey, range: { start: { line: 1, column: 1 }, end: { line: 1, column: 2 } } },
      ],
      texts,
    );
    expect(new Set(found).size).toBe(5);
  });

  test('are the same in SARIF and in Code Quality', () => {
    const sarif = JSON.parse(renderSarif(findings([unknownKey])));
    expect(marks([unknownKey], {})).toEqual(Object.values(sarif.runs[0].results[0].partialFingerprints));
  });
});

describe('gitlab', () => {
  test('has all fields of a Code Quality report; a mistake of a whole file is at its first line', () => {
    const whole: Diagnostic = {
      code: 'yaml/too-large',
      severity: 'warning',
      message: 'too large',
      file: 'a.yaml',
    };
    expect(JSON.parse(renderGitlab(findings([unknownKey, whole])))).toEqual([
      {
        description: 'unknown key "enabld"; did you mean enabled?',
        check_name: 'definition/unknown-key',
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        severity: 'major',
        location: { path: 'webhooks/a.yaml', lines: { begin: 2, end: 2 } },
      },
      {
        description: 'too large',
        check_name: 'yaml/too-large',
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        severity: 'minor',
        location: { path: 'a.yaml', lines: { begin: 1, end: 1 } },
      },
    ]);
  });
});

describe('junit', () => {
  test('has a case for each file; those with errors fail, those with warnings tell them', () => {
    const warning: Diagnostic = { ...unknownKey, severity: 'warning', file: 'webhooks/b.yaml' };
    expect(
      renderJunit(findings([unknownKey, warning], { 'webhooks/a.yaml': '', 'webhooks/c.yaml': '' })),
    ).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="hookmill validate" tests="3" failures="1" errors="0">
  <testsuite name="hookmill validate" tests="3" failures="1" errors="0" skipped="0">
    <testcase name="webhooks/a.yaml" classname="hookmill validate" file="webhooks/a.yaml">
      <failure type="definition/unknown-key" message="unknown key &quot;enabld&quot;">webhooks/a.yaml:2:3: error: unknown key &quot;enabld&quot; [definition/unknown-key]
  hint: did you mean enabled?</failure>
    </testcase>
    <testcase name="webhooks/b.yaml" classname="hookmill validate" file="webhooks/b.yaml">
      <system-out>webhooks/b.yaml:2:3: warning: unknown key &quot;enabld&quot; [definition/unknown-key]
  hint: did you mean enabled?</system-out>
    </testcase>
    <testcase name="webhooks/c.yaml" classname="hookmill validate" file="webhooks/c.yaml"/>
  </testsuite>
</testsuites>
`,
    );
  });

  test('is XML whatever is found: each character is one of XML 1.0, each tag is one of its own', () => {
    fc.assert(
      fc.property(fc.array(anyDiagnostic, { maxLength: 4 }), diagnostics => {
        const xml = renderJunit(findings(diagnostics));
        expect(xml).toMatch(/^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
        const content = xml.replaceAll(
          /<\/?(?:testsuites|testsuite|testcase|failure|system-out)(?: [\w-]+="[^"<]*")*\/?>/g,
          '',
        );
        expect(content.replace('<?xml version="1.0" encoding="UTF-8"?>', '')).not.toMatch(
          /[<>]|&(?!(?:amp|lt|gt|quot);)/,
        );
      }),
    );
  });
});
