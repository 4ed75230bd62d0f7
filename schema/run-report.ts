import { z } from 'zod';

/** @limit Length of a message in a receiver's report, in characters: a sentence or two; more belongs behind the link. */
export const reportMessageMax = 1_000;
/** @limit Length of a link in a receiver's report, in characters: what browsers and proxies take. */
export const reportLinkMax = 2_000;

/** @limit Highest cost, in dollars, that a run can report: more is a mistake, and would spoil each sum. */
const costUsdMax = 1_000_000;

const usageFields = {
  costUsd: z.number().min(0).max(costUsdMax).optional().describe('What an attempt cost, in dollars.'),
  inputTokens: z.int().min(0).optional(),
  outputTokens: z.int().min(0).optional(),
  turns: z.int().min(0).optional().describe('How often an agent has called its model.'),
};

const usageShape = z.object(usageFields);

/** The cost, tokens and turns that an attempt reports. */
export type RunUsage = z.output<typeof usageShape>;

/** The fields of a report, whether posted or in `result.json`. */
export const saidFields = {
  message: z.string().max(reportMessageMax).optional(),
  link: z.string().max(reportLinkMax).refine(isWebLink, 'must be an http:// or https:// URL').optional(),
  ...usageFields,
};

/** The body that a receiver posts to the callback of an attempt. */
export const runReportShape = z.strictObject({
  state: z.enum(['running', 'succeeded', 'failed']),
  ...saidFields,
});

/** The artifact `result.json` of a command. Agents may leave more in it. */
export const resultFileShape = z.object(saidFields);

/** A report as it comes from outside: nothing in it is trusted. */
export type RunSaid = z.output<typeof resultFileShape>;

/** Picks the cost, tokens and turns; undefined if the report has none of them. */
export function pickUsage(said: RunSaid): RunUsage | undefined {
  const usage = usageShape.parse(said);
  return Object.keys(usage).length === 0 ? undefined : usage;
}

export type PostedReport = z.output<typeof runReportShape>;

/** Whether a text from outside may become a link: a browser would run other URLs, such as `javascript:`. */
function isWebLink(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
