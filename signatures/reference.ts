import { placeholderList } from './content.ts';
import {
  hmacEncodings,
  hmacHashes,
  type SchemeKind,
  type SignatureScheme,
  secretEncodings,
  timestampUnits,
} from './description.ts';
import { leftOut } from './schemes/left-out.ts';
import { signatureAgeSecondsMax } from './schemes/shapes.ts';
import { schemes } from './schemes.ts';
import {
  formatAlgorithm,
  formatIdentity,
  formatReplayWindow,
  type SummaryLine,
  summariseScheme,
} from './summary.ts';

/** The kinds of provider, in the order of the documentation. */
export const schemeKinds: readonly SchemeKind[] = [...new Set(schemes.map(({ kind }) => kind))];

/** Renders the index of `docs/reference/signature-schemes/`: every supported scheme, with a link to its section. */
export function renderSchemeIndex(): string {
  const parts = [
    introduction,
    `## ${schemes.length} supported signature schemes`,
    ...schemeKinds.map(renderOverview),
    customSchemes,
    renderLeftOut(),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Renders the page of one kind of provider: each scheme with all that the verifier's table says of it. */
export function renderSchemesOfKind(kind: SchemeKind): string {
  const parts = [
    `# Signature schemes: ${capitalise(kind)}`,
    generated,
    '[Signature schemes](README.md) has the schemes of every kind, and explains the terms.',
    ...schemesOf(kind).map(renderSection),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Renders the page that lists what identifies the deliveries of each scheme, and why. */
export function renderIdentities(): string {
  const rows = schemes.map(scheme => {
    const { bodyIdentity, noIdentity, checked } = scheme;
    const [source, on] = bodyIdentity?.source ?? [checked.against, checked.on];
    const reason = bodyIdentity?.reason ?? 'its retries keep the header';
    const reasons = [noIdentity, reason].filter(text => text !== undefined).join('; ');
    const link = `[\`${scheme.id}\`](${getSchemePage(scheme.kind)}#${scheme.id})`;
    return renderRow([
      link,
      formatIdentity(scheme),
      reasons,
      /^https:/.test(source) ? `<${source}>` : source,
      on,
    ]);
  });
  const head = ['signature scheme', 'delivery identity', 'why', 'source', 'read on'];
  return `${[identitiesIntroduction, renderTable('## By signature scheme', head, rows)].join('\n\n')}\n`;
}

/** Returns the file name of a kind's page. */
export function getSchemePage(kind: SchemeKind): string {
  return `${kind.replaceAll(' ', '-')}.md`;
}

/** Renders the definition of a webhook that uses a scheme. */
export function renderExampleDefinition(id: string): string {
  const secretName = `${id.toUpperCase().replaceAll('-', '_')}_WEBHOOK`;
  return `authMode: signature\nsignatureScheme: ${id}\nsecretName: ${secretName}\n`;
}

const generated = '<!-- Written by docs/generate.ts from signatures/schemes. -->';

const identitiesIntroduction = `# What identifies a delivery

${generated}

A retry of an event is a duplicate if it has the same identity as the delivery before. This page lists for each signature
scheme what that is: a header whose value retries keep, the ID of the event in the body, or a hash of the body. A field is
listed only if it belongs to the event, not to the object that the event is about. If your sender gives an ID that is not
listed, name it with \`deliveryIdHeader\` or \`deliveryIdField\`:
[Delivery identity](../../receiving.md#delivery-identity).`;

const codeList = (values: readonly string[]) => values.map(value => `\`${value}\``).join(', ');

const askFor200 = schemes.flatMap(({ id, success }) => (success ? [id] : []));

const introduction = `# Signature schemes

${generated}

A webhook with \`authMode: signature\` names the signature scheme that its sender uses:

\`\`\`yaml
${renderExampleDefinition('github')}\`\`\`

hookmill verifies the signature over the bytes of the request as they arrived. It answers \`401\` if the signature is
missing or does not match, or if a signed timestamp is outside the replay window. For payment providers and Standard
Webhooks, the window is ${signatureAgeSecondsMax} s in the past and in the future. Other signature schemes use their provider's window, if the
provider signs a timestamp and documents a window.

The delivery identity is the header or the field of the body in the table, unless the definition sets \`deliveryIdHeader\` or
\`deliveryIdField\`. The table names one only if the provider's retries keep its value. Without one, deliveries with
identical bodies are duplicates. The table also says whether the signature covers that header.
[What identifies a delivery](identities.md) gives the reasons and the sources.

A delivery that is accepted, and a duplicate, are answered with \`202\`. If the provider's documentation asks for \`200\`, as
for ${codeList(askFor200.sort())}, it is \`200\`.

The schemes are grouped by the kind of provider. \`hookmill schemes list TEXT\` searches them, and
\`hookmill schemes show ID\` prints what the page of a scheme says:

- **Retries**: whether and for how long the provider sends a delivery again by itself if it failed, and how to make it send
  again by hand.
- **Captured request**: what someone can do who has read a genuine request and sends it again, with any unsigned header
  changed.
- **Last checked**: the day on which the scheme was compared with its source, and that source: the provider's library,
  code, tests or documentation, in the newest version that was available. A hash names a commit of its repository. "As
  first researched" means that nothing newer was found. "Rule only" means that the tests have no signature that someone
  else made or accepted: they compute one from the rule in that source.`;

const customSchemes = `## Custom signature schemes

If a sender signs with an HMAC but is not in the table, describe its signature scheme in the definition:

\`\`\`yaml
authMode: signature
signatureScheme:
  header: X-Acme-Signature           # t=1700000000,v1=5257a8…
  hash: sha256                       # ${hmacHashes.join(' | ')}
  encoding: hex                      # ${hmacEncodings.join(' | ')}
  list: { separator: ",", keyValueSeparator: "=", key: v1 }
  content: "{timestamp}.{body}"      # built from ${placeholderList}
  timestamp: { field: t, unit: s, toleranceSeconds: 300 }
secretName: ACME_WEBHOOK
\`\`\`

| field | meaning |
| --- | --- |
| \`header\` | The header that contains the signature. |
| \`hash\`, \`encoding\` | The hash of the HMAC, and the encoding of the signature. |
| \`prefix\` | Text before the signature, as in \`sha256=\`. |
| \`list\` | Replaces \`prefix\` if the header is a list. The items with this \`key\` are signatures; one match is enough. Without \`key\` and \`keyValueSeparator\`, each item is a signature. |
| \`content\` | The signed content. It must include \`{body}\`. |
| \`timestamp\` | The place of the timestamp: \`header\`, \`field\` (of the list), \`item: first\` (of a list without keys) or \`body\` (a dotted path). Also its \`unit\` (${codeList(timestampUnits)}) and \`toleranceSeconds\`. |
| \`idHeader\` | The header whose value replaces \`{id}\`. It is also the delivery identity. |
| \`key\` | The \`encoding\` of the secret (${codeList(secretEncodings)}), and a \`stripPrefix\` to remove first. By default, the key is the secret's UTF-8 bytes. |
| \`answer\` | The \`status\` of the answer, 200 or 202, and \`isEmpty: true\` if it must have no body (Xero: 200, empty). |`;

function renderOverview(kind: SchemeKind): string {
  const head = ['signature scheme', 'provider', 'algorithm', 'replay window', 'delivery identity'];
  return renderTable(`### ${capitalise(kind)}`, head, schemesOf(kind).map(renderOverviewRow));
}

function schemesOf(kind: SchemeKind): readonly SignatureScheme[] {
  return schemes.filter(scheme => scheme.kind === kind);
}

function renderOverviewRow(scheme: SignatureScheme): string {
  return renderRow([
    `[\`${scheme.id}\`](${getSchemePage(scheme.kind)}#${scheme.id})`,
    scheme.provider,
    formatAlgorithm(scheme),
    formatReplayWindow(scheme),
    formatIdentity(scheme),
  ]);
}

/** Abbreviations are written in capitals. */
function capitalise(kind: string): string {
  return kind.length <= 2 ? kind.toUpperCase() : kind[0]?.toUpperCase() + kind.slice(1);
}

function renderSection(scheme: SignatureScheme): string {
  const lines = summariseScheme(scheme).map(line => `- **${line.label}**: ${renderText(line)}`);
  const example = `\`\`\`yaml\n${renderExampleDefinition(scheme.id)}\`\`\``;
  // GitHub makes an anchor of each heading, and the index links to the ID.
  return [`## ${scheme.id}`, scheme.provider, lines.join('\n'), example].join('\n\n');
}

function renderLeftOut(): string {
  const rows = leftOut.map(({ providers, reason }) => renderRow([providers, reason]));
  return renderTable('## Not supported, and why', ['provider', 'reason'], rows);
}

function renderTable(heading: string, head: readonly string[], rows: readonly string[]): string {
  return [heading, '', renderRow(head), renderRow(head.map(() => '---')), ...rows].join('\n');
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const verbatimLabels = ['Header', 'Signature', 'Signed content'];

/** Renders header names and templates as code, because they contain characters that have a meaning in Markdown. */
function renderText({ label, text }: SummaryLine): string {
  if (label === 'Page') return `<${text}>`;
  return verbatimLabels.includes(label) && /[-{<]/.test(text) ? `\`${text}\`` : text;
}
