import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
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
Examples:
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef --payload > body.json`,
  )
    .argument('<id>', 'ID of the delivery')
    .option('--payload', 'print only the stored body, byte for byte')
    .action(async (id: string, options: { payload?: true }, command: Command) => {
      const { backend, output } = await openBackend(command);
      if (options.payload) {
        printExactly(await backend.readPayload(id));
        return;
      }
      const delivery = await backend.showDelivery(id);
      printData(output, delivery, () => renderDelivery(delivery));
    });
}
