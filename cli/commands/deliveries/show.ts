import type { Command } from 'commander';
import type { DeliveryView } from '../../../operations/views/delivery-views.ts';
import { renderCurl } from '../../../schema/render-curl.ts';
import type { Backend, OpenBackend } from '../../backend/backend.ts';
import { CommandError } from '../../exit-status.ts';
import { printData, printExactly } from '../../output.ts';
import { renderDelivery } from '../../render/render-delivery.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries show`. */
export function declareDeliveriesShow(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'show',
    "explain one delivery: each automation's verdict, the runs it started, and its payload",
    `
With -o curl, it prints a command that sends the stored body and event headers to the webhook again, without a credential.

Examples:
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef -o curl
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef --payload > body.json`,
  )
    .argument('<id>', 'ID of the delivery')
    .option('--payload', 'print only the stored body, byte for byte')
    .action(async (id: string, options: { payload?: true }, command: Command) => {
      const { backend, output } = await openBackend(command);
      if (options.payload) {
        printExactly(await backend.call('downloadPayload', { params: { delivery: id } }));
        return;
      }
      const delivery = await backend.call('showDelivery', { params: { delivery: id } });
      if (command.optsWithGlobals().output === 'curl') {
        printExactly(await renderAsCurl(backend, delivery));
        return;
      }
      printData(output, delivery, () => renderDelivery(delivery));
    });
}

async function renderAsCurl(backend: Backend, delivery: DeliveryView): Promise<string> {
  const body = await backend.call('downloadPayload', { params: { delivery: delivery.id } });
  const { webhooks } = await backend.call('listWebhooks');
  const webhook = webhooks.find(({ uid }) => uid === delivery.uid);
  if (!webhook)
    throw new CommandError(`the webhook ${delivery.webhook} is no longer applied, so it has no URL`);
  return renderCurl(delivery, body, webhook);
}
