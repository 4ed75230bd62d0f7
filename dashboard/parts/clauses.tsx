import type { ComponentChildren } from 'preact';
import { Sign } from './signs.tsx';
import { Text } from './text.tsx';

export interface ClauseRow {
  readonly path: string;
  readonly operator: string;
  readonly allowed: string;
  /** What is said of it at the right. */
  readonly found: ComponentChildren;
  /** `plain`: it is not judged here. */
  readonly verdict: 'holds' | 'fails' | 'near' | 'plain';
}

const looks = {
  holds: ['done', 'holds'],
  fails: ['fails', 'does not hold'],
  near: ['warning', 'nearly holds'],
  plain: ['accepted', ''],
} as const;

/** The clauses of a filter, one a line: path, operator, value, and what was found. */
export function Clauses({ rows }: { readonly rows: readonly ClauseRow[] }) {
  return (
    <ul class="clauses">
      {rows.map(({ path, operator, allowed, found, verdict }, index) => (
        <li key={index} class={verdict === 'near' ? 'warn' : ''}>
          <Sign name={looks[verdict][0]} {...(looks[verdict][1] !== '' && { label: looks[verdict][1] })} />
          <span>
            <Text text={path} /> <span class="op">{operator.replaceAll('_', ' ')}</span>{' '}
            <Text text={allowed} />
          </span>
          <span class="found">{found}</span>
        </li>
      ))}
    </ul>
  );
}

interface CellsProperties {
  /** What the cells tell, in words. */
  readonly label: string;
  /** The newest first. */
  readonly cells: readonly {
    readonly id: string;
    readonly verdict: 'match' | 'near' | 'no';
    readonly href: string;
    readonly title: string;
  }[];
}

const cellClasses = { match: 'y', near: 'n', no: '' } as const;

/** One cell a delivery: a filter's test at a glance. Each cell opens its delivery. */
export function Cells({ label, cells }: CellsProperties) {
  return (
    <nav class="cells" aria-label={label}>
      {cells.map(({ id, verdict, href, title }) => (
        <a key={id} href={href} title={title} class={cellClasses[verdict]}>
          <span class="unseen">{title}</span>
        </a>
      ))}
    </nav>
  );
}
