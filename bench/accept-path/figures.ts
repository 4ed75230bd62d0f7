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

interface Definition {
  readonly figure: string;
  readonly of: CaseName;
  readonly against: CaseName;
  readonly key: 'perSecond' | 'p99Ms' | 'serverUs';
  readonly aim: string;
}

const units = { perSecond: '/s', p99Ms: 'ms', serverUs: 'µs' } as const;

const definitions: readonly Definition[] = [
  accepted('bare node:http', 'http'),
  accepted('bare Koa', 'koa'),
  accepted('Koa + HMAC + parse, which stores nothing', 'checked', '≥ 0.65'),
  accepted('Koa + Redis, appendfsync always', 'redis', '≥ 1.2'),
  accepted('Koa + PostgreSQL, one insert a request', 'postgres', '≥ 2.5'),
  accepted('adnanh/webhook, starting /bin/true', 'webhook', '≥ 3'),
  accepted('the disk: append + fdatasync in such batches', 'disk'),
  {
    ...accepted('Koa + HMAC + parse', 'checked', '≤ 55 µs'),
    figure: 'CPU of an accepted delivery, against Koa + HMAC + parse',
    key: 'serverUs',
  },
  ofIssuer('accepted', 'oidc', 'perSecond'),
  ofIssuer('CPU of an accepted delivery', 'oidc', 'serverUs'),
  ofIssuer('p99 at 1,000/s', 'oidcAtRate', 'p99Ms'),
  flooded('404 flood', 'unknown'),
  flooded('401 flood, each request from another address', 'forged'),
  flooded('401 flood from one address, soon answered 429', 'refused'),
  {
    figure: 'p99 at 1,000/s, against bare Koa',
    ...{ of: 'hookmillAtRate', against: 'koaAtRate', key: 'p99Ms', aim: '≤ 2' },
  },
  {
    figure: 'accepted with a full log, against an empty one',
    ...{ of: 'full', against: 'hookmill', key: 'perSecond', aim: '≥ 0.9' },
  },
];

function accepted(than: string, against: CaseName, aim = ''): Definition {
  return { figure: `accepted, against ${than}`, of: 'hookmill', against, key: 'perSecond', aim };
}

function ofIssuer(name: string, of: 'oidc' | 'oidcAtRate', key: Definition['key']): Definition {
  const against = of === 'oidc' ? 'token' : 'tokenAtRate';
  return { figure: `${name} with authMode oidc, against token`, of, against, key, aim: '' };
}

function flooded(name: string, of: CaseName): Definition {
  return {
    figure: `${name}, against Koa + HMAC + parse`,
    of,
    against: 'checked',
    key: 'perSecond',
    aim: '≥ 1',
  };
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
