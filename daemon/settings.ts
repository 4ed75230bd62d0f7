import { z } from 'zod';
import { type ParsedFile, parseDefinition } from '../schema/definition.ts';
import {
  bodyBytesMax,
  deliveriesKept,
  deliveriesPerMinute,
  deliveryDaysKept,
  failedAuthPerMinute,
  failedAuthPerMinuteTotal,
} from '../schema/limits.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const port = z.int().min(0).max(65_535);
const count = z.int().min(1);

/** What stands in the daemon's configuration file. Each key has a default. */
export const settingsShape = z.strictObject({
  host: z.string().default('127.0.0.1').describe('Address that the ingress listens on.'),
  port: port.default(8080).describe('Port of the ingress; 0 takes a free one.'),
  managementPort: port.default(8081).describe('Port of health and metrics, on loopback; 0 takes a free one.'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .transform(url => url.replace(/\/+$/, ''))
    .optional()
    .describe(
      'Public URL of the ingress as senders use it; needed behind a proxy for schemes that sign the URL.',
    ),
  trustProxies: z
    .array(z.string())
    .default([])
    .describe('Addresses or subnets of proxies whose X-Forwarded-For is believed.'),
  logLevel: z.enum(logLevels).default('info').describe('Least severe level that is logged.'),
  limits: z
    .strictObject({
      deliveriesPerMinute: count
        .default(deliveriesPerMinute)
        .describe('Authenticated deliveries a minute and webhook.'),
      failedAuthPerMinute: count
        .default(failedAuthPerMinute)
        .describe('Failed attempts a minute, webhook and client address.'),
      failedAuthPerMinuteTotal: count
        .default(failedAuthPerMinuteTotal)
        .describe('Failed attempts a minute and webhook over all addresses.'),
      bodyBytes: count
        .max(16 * 1024 * 1024)
        .default(bodyBytesMax)
        .describe('Bytes of a request body.'),
    })
    .prefault({})
    .describe('What the ingress lets through.'),
  retention: z
    .strictObject({
      deliveries: z
        .int()
        .min(deliveriesKept)
        .default(deliveriesKept)
        .describe('Newest deliveries of a webhook that stay.'),
      days: z
        .int()
        .min(deliveryDaysKept)
        .default(deliveryDaysKept)
        .describe('Days for which every delivery stays.'),
    })
    .prefault({})
    .describe('What the delivery log keeps; a delivery stays as long as either says so.'),
});

export type DaemonSettings = z.output<typeof settingsShape>;

export const defaultSettings: DaemonSettings = settingsShape.parse({});

export function parseSettings(file: string, bytes: Uint8Array): ParsedFile<DaemonSettings> {
  return parseDefinition(settingsShape, file, bytes);
}
