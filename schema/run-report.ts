import { z } from 'zod';

/** @limit Length of a message in a receiver's report, in characters: a sentence or two; more belongs behind the link. */
export const reportMessageMax = 1_000;
/** @limit Length of a link in a receiver's report, in characters: what browsers and proxies take. */
export const reportLinkMax = 2_000;

/** The body that a receiver posts to the callback of an attempt. */
export const runReportShape = z.strictObject({
  state: z.enum(['running', 'succeeded', 'failed']),
  message: z.string().max(reportMessageMax).optional(),
  link: z.string().max(reportLinkMax).refine(isWebLink, 'must be an http:// or https:// URL').optional(),
});

export type PostedReport = z.output<typeof runReportShape>;

/** Whether a text from outside may become a link: a browser would run other URLs, such as `javascript:`. */
function isWebLink(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
