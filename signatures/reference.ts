import type { SignatureScheme } from './description.ts';
import { leftOut } from './schemes/left-out.ts';
import { schemes } from './schemes.ts';
import { algorithm, identity, replayWindow, type SummaryLine, summarise } from './summary.ts';

/** `docs/signature-schemes.md`: every shipped scheme, from the table that verifies them. */
export function renderSchemeReference(): string {
  return `${[introduction, overview(), custom, missing(), '## The schemes', ...schemes.map(section)].join('\n\n')}\n`;
}

/** A definition of a webhook under a scheme. */
export function exampleDefinition(id: string): string {
  const secretName = `${id.toUpperCase().replaceAll('-', '_')}_WEBHOOK`;
  return `authMode: signature\nsignatureScheme: ${id}\nsecretName: ${secretName}\n`;
}

const introduction = `# Signature schemes

<!-- Written by docs/generate.ts from schema/signature/schemes. -->

A webhook with \`authMode: signature\` names the scheme under which its sender signs:

\`\`\`yaml
${exampleDefinition('github')}\`\`\`

The signature is checked over the bytes of the request as they came. A request without one, with one that does not
match, or with a signed timestamp outside the replay window is answered \`401\`. Payment providers and Standard Webhooks
have a window of five minutes, both ways; the others have their provider's, where it signs a timestamp and names one.

The delivery identity is the header that the table names, unless the definition sets \`deliveryIdHeader\`. A header is
named only if the provider's retries keep its value; without one, identical bodies are duplicates.`;

const custom = `## Any other HMAC

A sender that is not in the table can be described in the definition, in the fields of the table's own entries:

\`\`\`yaml
authMode: signature
signatureScheme:
  header: X-Acme-Signature           # t=1700000000,v1=5257a8…
  hash: sha256                       # sha1 | sha256 | sha512
  encoding: hex                      # hex | base64 | base64url
  list: { separator: ",", keyValueSeparator: "=", key: v1 }
  content: "{timestamp}.{body}"      # over {body} {timestamp} {id} {url} {method}
  timestamp: { field: t, unit: s, toleranceSeconds: 300 }
secretName: ACME_WEBHOOK
\`\`\`

| field | meaning |
| --- | --- |
| \`header\` | the header that holds the signature |
| \`hash\`, \`encoding\` | the hash of the HMAC, and how the signature is written |
| \`prefix\` | text before the signature, as in \`sha256=\` |
| \`list\` | instead of a prefix: the header is a list, and the items with this \`key\` are signatures; one that matches suffices |
| \`content\` | what is signed; it must cover \`{body}\` |
| \`timestamp\` | \`header\`, \`field\` (of the list) or \`body\` (a dotted path), its \`unit\` (\`s\`, \`ms\`, \`iso8601\`) and \`toleranceSeconds\` |
| \`idHeader\` | the header that \`{id}\` stands for; it is the delivery identity too |
| \`key\` | \`encoding\` of the secret (\`utf8\`, \`base64\`, \`hex\`) and a \`stripPrefix\` to take off first; by default the key is the secret's UTF-8 bytes |`;

function overview(): string {
  const rows = schemes.map(scheme =>
    row([
      `[\`${scheme.id}\`](#${scheme.id})`,
      scheme.provider,
      scheme.kind,
      algorithm(scheme),
      replayWindow(scheme),
      identity(scheme),
    ]),
  );
  const head = ['scheme', 'provider', 'kind', 'algorithm', 'replay window', 'delivery identity'];
  return [`## ${schemes.length} schemes`, '', row(head), row(head.map(() => '---')), ...rows].join('\n');
}

function section(scheme: SignatureScheme): string {
  const lines = summarise(scheme).map(line => `- **${line.label}**: ${markdown(line)}`);
  const example = `\`\`\`yaml\n${exampleDefinition(scheme.id)}\`\`\``;
  // GitHub makes anchors of headings: the id alone, so that the table's links are the ids.
  return [`### ${scheme.id}`, scheme.provider, lines.join('\n'), example].join('\n\n');
}

function missing(): string {
  const rows = leftOut.map(({ providers, reason }) => row([providers, reason]));
  return ['## What is left out, and why', '', row(['provider', 'reason']), row(['---', '---']), ...rows].join(
    '\n',
  );
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const verbatimLabels = ['Header', 'Signature', 'Signed content'];

/** What a sender writes is set as code: it holds characters that markdown would take for its own. */
function markdown({ label, text }: SummaryLine): string {
  if (label === 'Page') return `<${text}>`;
  return verbatimLabels.includes(label) && /[-{<]/.test(text) ? `\`${text}\`` : text;
}
