import { describeImpact } from '../../schema/changes/describe-impact.ts';
import { showChange } from '../../schema/changes/show-change.ts';
import type { PlannedChange } from '../api-types.ts';
import { DiffBlock } from './diff-block.tsx';
import { Code, Text } from './text.tsx';

/** Shows a change: each part of the definition before and after, and the impact on senders and runs. */
export function ChangeList({ change: { action, fields, impact } }: { readonly change: PlannedChange }) {
  if (action === 'no-op') return <p class="muted">Nothing changes.</p>;
  return (
    <>
      <ul class="changes">
        {fields.map(field => {
          const { path, lines } = showChange(field);
          return (
            <li key={path}>
              <Code text={path} />
              <DiffBlock lines={lines} />
            </li>
          );
        })}
      </ul>
      {impact && (
        <ul class="effects">
          {describeImpact(impact, Date.now()).map(sentence => (
            <li key={sentence}>
              <Text text={sentence} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
