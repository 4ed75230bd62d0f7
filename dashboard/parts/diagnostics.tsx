import type { Diagnostic } from '../../schema/diagnostics.ts';
import { Pill } from './pill.tsx';
import { Text } from './text.tsx';

/** Mistakes in definition files. */
export function Diagnostics({ of }: { readonly of: readonly Diagnostic[] }) {
  return (
    <ul class="diagnostics">
      {of.map(diagnostic => (
        <li key={JSON.stringify(diagnostic)}>
          <Pill tone={diagnostic.severity === 'error' ? 'bad' : 'warn'}>{diagnostic.severity}</Pill>
          <div>
            <p>
              <Text text={diagnostic.message} />
            </p>
            <p class="muted small">
              <code>
                <Text text={placeOf(diagnostic)} />
              </code>{' '}
              · {diagnostic.code}
            </p>
            {diagnostic.hint && (
              <p class="hint">
                <Text text={diagnostic.hint} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function placeOf({ file, range }: Diagnostic): string {
  return range ? `${file}:${range.start.line}:${range.start.column}` : file;
}
