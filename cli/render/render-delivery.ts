import type { DeliveryDetail, DeliveryView } from '../../operations/views/delivery-views.ts';
import { identitySourceTexts } from '../../schema/clients/describe.ts';
import { formatJson } from '../../schema/text/json-text.ts';
import { printable } from '../../schema/text/printable.ts';
import { describeCommit } from './colours.ts';
import { completeCommands } from './own-commands.ts';
import { renderRuns } from './render-run.ts';
import { openTable, renderFields } from './render-table.ts';
import { renderVerdict } from './render-verdict.ts';

/** A delivery with the verdict of each automation, its runs and its payload. */
export function renderDelivery(delivery: DeliveryDetail): string {
  return [
    renderFields(toFields(delivery)),
    renderEvaluation(delivery),
    renderHeaders(delivery),
    delivery.runs.length > 0 ? `\n${renderRuns(delivery.runs)}` : '',
    delivery.payload === null ? '' : `\n${indentJson(delivery.payload)}\n`,
  ].join('');
}

/** The headers, one a line. They came from the sender. */
function renderHeaders({ headers = {} }: DeliveryDetail): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${printable(`${name}: ${value}`)}\n`);
  return lines.length === 0 ? '' : `\nHeaders:\n${lines.join('')}`;
}

function renderEvaluation({ outcome, duplicateOf, evaluation }: DeliveryDetail): string {
  if (outcome === 'Duplicate')
    return completeCommands(
      `\nA duplicate starts no runs; \`hookmill deliveries show ${duplicateOf}\` explains the original.\n`,
    );
  if (outcome === 'Handshake')
    return '\nA handshake starts no runs: the provider asked whether this URL expects its deliveries.\n';
  if (outcome === 'Manual') return '\nNo sender sent this: somebody started a run by hand.\n';
  if (outcome !== 'Accepted') return '\nRejected before any automation was tested.\n';
  if (!evaluation) return '';
  const { serial, automations, others } = evaluation;
  const verb = others === 1 ? 'automation listens' : 'automations listen';
  const rest = others > 0 ? `${others} other ${verb} to other webhooks.\n` : '';
  if (automations.length === 0)
    return `\nNo automation had a trigger on this webhook (serial ${serial}). ${rest}`.trimEnd().concat('\n');
  return `\nTested with the automations of serial ${serial}:\n${automations.map(verdict => renderVerdict(verdict)).join('')}${rest}`;
}

function describeForm({ payloadField }: NonNullable<DeliveryView['form']>): string {
  return payloadField === undefined
    ? 'a form, shown as JSON'
    : `a form, of which the field ${printable(payloadField)} is shown`;
}

function toFields(delivery: DeliveryDetail): (readonly [string, string])[] {
  const { id, webhook, uid, at, size, outcome, identity, identitySource } = delivery;
  const { authenticatedBy, verifiedWith } = delivery;
  const fields: (readonly [string, string | undefined])[] = [
    ['id', id],
    ['webhook', `${webhook} (${uid})`],
    ['event', describeTitle(delivery)],
    ['time', at],
    ['size', `${size} bytes`],
    ['body', delivery.form && describeForm(delivery.form)],
    ['outcome', outcome],
    ['authenticated by', authenticatedBy],
    ['verified with', verifiedWith && 'the previous secret'],
    [
      'identity',
      identity === null
        ? undefined
        : `${identity} (from ${identitySource && identitySourceTexts[identitySource]})`,
    ],
    ['duplicate of', delivery.duplicateOf],
    ['reason', delivery.reason],
    ['remedy', delivery.remedy && completeCommands(delivery.remedy)],
    ['revision', delivery.commit === null ? undefined : describeCommit(delivery.commit)],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** The event and what it is about, as far as a delivery has an event: it was accepted, repeats one that was, or started a run. */
function describeTitle({
  outcome,
  title,
  text,
}: Pick<DeliveryDetail, 'outcome' | 'title' | 'text'>): string | undefined {
  if (outcome !== 'Accepted' && outcome !== 'Duplicate' && outcome !== 'Manual') return undefined;
  return text === null ? title : `${title} · ${text}`;
}

/** Indents a body for reading, with each value as it was sent; `--payload` prints its exact bytes. */
function indentJson(body: string): string {
  return formatJson(body).split('\n').map(printable).join('\n');
}

/** Opens a table of deliveries, whose rows may come little by little. Rows with a summary show their title. */
export function openDeliveryTable(): (deliveries: readonly DeliveryView[]) => string {
  const table = openTable(['ID', 'WEBHOOK', 'TIME', 'SIZE', 'OUTCOME', '']);
  return deliveries =>
    table(
      deliveries.map(({ id, webhook, at, size, outcome, reason, duplicateOf, summary }) => {
        const title = summary && describeTitle({ outcome, ...summary });
        const note = reason ?? (duplicateOf ? `of ${duplicateOf}` : (title ?? ''));
        return [id, webhook, at, String(size), outcome, note];
      }),
    );
}
