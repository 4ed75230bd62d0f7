import { z } from 'zod';
import { secretNameShape } from '../../schema/name-shapes.ts';
import { receiverUrl } from '../receivers/receiver-url.ts';

/** @limit Receivers of alerts: each gets every one. */
const receiversMax = 10;

const receiverShape = z.strictObject({
  url: receiverUrl.describe('URL that alerts are posted to.'),
  secret: secretNameShape.describe(
    'Team secret that alerts are signed with, as Standard Webhooks says (whsec_…).',
  ),
});

/** The key `alerts` of the daemon's configuration file. */
export const alertSettingsShape = z.array(receiverShape).max(receiversMax).default([]);

export type AlertReceiver = z.output<typeof receiverShape>;
