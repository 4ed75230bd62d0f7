import type { ListedToken } from '../../api-types.ts';
import { Empty } from '../../parts/empty.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Text } from '../../parts/text.tsx';
import { ExactTime, Time } from '../../parts/time.tsx';
import { nowMs } from '../../state/clock.ts';

/** The names of API tokens; nobody can read a token again. */
export function TokenTable({ tokens }: { readonly tokens: readonly ListedToken[] }) {
  if (tokens.length === 0) return <Empty title="No API tokens" />;
  return (
    <div class="card">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">API token</th>
            <th scope="col">Permission</th>
            <th scope="col">Created</th>
            <th scope="col">Expires</th>
            <th scope="col">Last used</th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}

function Expiry({ at }: { readonly at: string }) {
  if (Date.parse(at) <= nowMs.value) return <Pill tone="bad">Expired</Pill>;
  return <ExactTime at={at} due />;
}
