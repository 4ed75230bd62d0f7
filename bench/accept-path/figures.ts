import { median, round } from '../support/statistics.ts';
import type { CaseName } from './cases.ts';
import type { Sample } from './measure.ts';

/** The samples of each case, in the order of the rounds. */
export type Samples = Readonly<Partial<Record<CaseName, readonly Sample[]>>>;

/** One row of the table. The ratio is the median of the ratios of the rounds, because other load changes between rounds. */
export interface Figure {
  readonly figure: string;
  readonly unit: string;
  readonly measured: number | undefined;
  readonly comparison: number | undefined;
  readonly ratio: number | undefined;
  readonly aim: string;
}

const units = { perSecond: '/s', p99Ms: 'ms', serverUs: 'µs' } as const;
const againstChecked = 'against Koa + HMAC + parse';

const definitions = [
  define('accepted, against bare node:http', 'hookmill', 'http'),
  define('accepted, against bare Koa', 'hookmill', 'koa'),
  define(`accepted, ${againstChecked}, which stores nothing`, 'hookmill', 'checked', '≥ 0.65'),
  define('accepted, against Koa + Redis, appendfsync always', 'hookmill', 'redis', '≥ 1.2'),
  define('accepted, against Koa + PostgreSQL, one insert a request', 'hookmill', 'postgres', '≥ 2.5'),
  define('accepted, against adnanh/webhook, starting /bin/true', 'hookmill', 'webhook', '≥ 3'),
  define('accepted, against the disk: append + fdatasync in such batches', 'hookmill', 'disk'),
  define(`CPU of an accepted delivery, ${againstChecked}`, 'hookmill', 'checked', '≤ 55 µs', 'serverUs'),
  define('accepted with authMode oidc, against token', 'oidc', 'token'),
  define('CPU of an accepted delivery with authMode oidc, against token', 'oidc', 'token', '', 'serverUs'),
  define('p99 at 1,000/s with authMode oidc, against token', 'oidcAtRate', 'tokenAtRate', '', 'p99Ms'),
  define(`404 flood, ${againstChecked}`, 'unknown', 'checked', '≥ 1'),
  define(`401 flood, each request from another address, ${againstChecked}`, 'forged', 'checked', '≥ 1'),
  define(`401 flood from one address, soon answered 429, ${againstChecked}`, 'refused', 'checked', '≥ 1'),
  define('p99 at 1,000/s, against bare Koa', 'hookmillAtRate', 'koaAtRate', '≤ 2', 'p99Ms'),
  define('accepted with a full log, against an empty one', 'full', 'hookmill', '≥ 0.9'),
];

function define(
  figure: string,
  of: CaseName,
  against: CaseName,
  aim = '',
  key: keyof typeof units = 'perSecond',
) {
  return { figure, of, against, aim, key };
}

/** Computes the figures as medians over the rounds. One whose comparison was not measured has no numbers for it. */
export function computeFigures(samples: Samples): readonly Figure[] {
  return definitions.map(({ figure, of, against, key, aim }) => {
    const [measured = [], comparison = []] = [of, against].map(name =>
      samples[name]?.map(sample => sample[key]),
    );
    const ratios = measured.map((value, index) => (value ?? Number.NaN) / (comparison[index] ?? Number.NaN));
    return {
      ...{ figure, unit: units[key] },
      ...{ measured: medianOf(measured), comparison: medianOf(comparison), ratio: medianOf(ratios, 2) },
      aim,
    };
  });
}

function medianOf(values: readonly (number | undefined)[], decimals = 1): number | undefined {
  const measured = values.filter(value => value !== undefined && Number.isFinite(value)) as number[];
  return measured.length > 0 ? round(median(measured), decimals) : undefined;
}

/** Makes a row of the table for people. */
export function renderFigure({ figure, unit, measured, comparison, ratio, aim }: Figure) {
  const show = (value: number | undefined) =>
    value === undefined
      ? 'not installed'
      : `${value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })} ${unit}`;
  return { figure, measured: show(measured), comparison: show(comparison), ratio: ratio ?? '', aim };
}
