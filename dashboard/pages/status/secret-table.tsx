import type { ListedSecret } from '../../api-types.ts';
import { Empty } from '../../parts/empty.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Code } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';

/** The names of the team secrets; the API never returns their values. */
export function SecretTable({ secrets }: { readonly secrets: readonly ListedSecret[] }) {
  if (secrets.length === 0) return <Empty title="No team secrets" />;
  return (
    <div class="card">
      <ListTable columns={['Team secret', 'Value', 'Used by', 'Changed']}>
        {secrets.map(secret => (
          <tr key={secret.name}>
            <th scope="row">
              <Code text={secret.name} />
            </th>
            <td>
              {secret.from ? (
                <Code text={secret.from} />
              ) : (
                <Pill tone={secret.state === 'declared' ? 'warn' : 'good'}>
                  {secret.state === 'declared' ? 'No value yet' : 'Set'}
                </Pill>
              )}
            </td>
            <td>
              {secret.usedBy.join(', ')}
              {secret.usedElsewhere && <span class="muted"> other factories</span>}
              {secret.usedBy.length === 0 && !secret.usedElsewhere && <span class="muted">not used</span>}
            </td>
            <td>
              <Time at={secret.updatedAt} />
            </td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}
