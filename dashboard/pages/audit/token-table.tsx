import type { ListedToken } from '../../api-types.ts';
import { Empty } from '../../parts/empty.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Text } from '../../parts/text.tsx';
import { ExactTime, Time } from '../../parts/time.tsx';
import { nowMs } from '../../state/clock.ts';

/** The API tokens by their names; no answer of the API contains the tokens. */
export function TokenTable({ tokens }: { readonly tokens: readonly ListedToken[] }) {
  if (tokens.length === 0) return <Empty title="No API tokens" />;
  return (
    <div class="card">
      <ListTable columns={['API token', 'Permission', 'Created', 'Expires', 'Last used']}>
        {tokens.map(({ name, factory, permission, createdAt, expiresAt, lastUsedAt }) => (
          <tr key={name}>
            <th scope="row">
              <Text text={name} />
            </th>
            <td>
              {permission}
              {factory === null && <span class="muted"> all factories</span>}
            </td>
            <td>
              <Time at={createdAt} />
            </td>
            <td>{expiresAt === null ? 'never' : <Expiry at={expiresAt} />}</td>
            <td>{lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />}</td>
          </tr>
        ))}
      </ListTable>
    </div>
  );
}

function Expiry({ at }: { readonly at: string }) {
  if (Date.parse(at) <= nowMs.value) return <Pill tone="bad">Expired</Pill>;
  return <ExactTime at={at} due />;
}
