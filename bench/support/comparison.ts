import { join } from 'node:path';
import { startServer } from './factory.ts';
import type { Target } from './load.ts';

const servers = join(import.meta.dirname, '../comparison-servers.ts');
export const comparisonSecret = 'the-secret-of-a-benchmark-0123456789';

/** Starts a server of a kind that `comparison-servers.ts` describes. */
export async function startComparison(
  name: 'http' | 'koa' | 'checked' | 'redis' | 'postgres',
  store = '',
): Promise<Target & { readonly kill: () => unknown }> {
  const environment = { COMPARISON_SECRET: comparisonSecret, COMPARISON_STORE: store };
  const { urls, kill } = await startServer([servers, name], environment);
  const [url = ''] = urls;
  return { name, url, metricsUrl: url, secret: comparisonSecret, kill };
}
