import type { Diagnostic } from '../../schema/diagnostics.ts';
import { Pill } from './pill.tsx';
import { Code, Text } from './text.tsx';

export function Diagnostics({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) {
  return (
    <ul class="diagnostics">
      {diagnostics.map(diagnostic => (
        <li key={JSON.stringify(diagnostic)}>
          <Pill tone={diagnostic.severity === 'error' ? 'bad' : 'warn'}>{diagnostic.severity}</Pill>
          <div>
            <p>
              <Text text={diagnostic.message} />
            </p>
            <p class="muted small">
              <Code text={formatPosition(diagnostic)} /> · {diagnostic.code}
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

function formatPosition({ file, range }: Diagnostic): string {
  return range ? `${file}:${range.start.line}:${range.start.column}` : file;
}
