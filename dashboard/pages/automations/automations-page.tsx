import { callApi } from '../../api-client.ts';
import type { ListedAutomation } from '../../api-types.ts';
import { Empty, ListTable, Waiting } from '../../parts/lists.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { EnabledPill, Pill } from '../../parts/pills.tsx';
import { Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { usePolled } from '../../state/loading.ts';
import { toHref } from '../../state/page-location.ts';

const promptCharsShown = 160;
const listEveryMs = 30_000;

export function AutomationsPage() {
  const { factory, mayManage, managedHere } = useFactory();
  const { value, error, reload } = usePolled(
    async signal => {
      const [{ automations }, { pauses }] = await Promise.all([
        callApi('get', '/factories/{factory}/automations', { factory, signal }),
        callApi('get', '/factories/{factory}/pauses', { factory, signal }),
      ]);
      return { automations, paused: new Set(pauses.map(({ automation }) => automation)) };
    },
    [factory],
    listEveryMs,
  );
  return (
    <>
      <PageHeading
        title="Automations"
        actions={
          mayManage && (
            <a class="btn primary" href={toHref({ page: 'new-automation', factory })}>
              {managedHere ? 'Create automation' : 'Draft automation'}
            </a>
          )
        }
      />
      {!value ? (
        <Waiting error={error} reload={reload} what="automations" />
      ) : value.automations.length === 0 ? (
        <Empty title="No automations yet">
          <p>
            An automation is a prompt, and the triggers that start a run of it.{' '}
            <a href={toHref({ page: 'webhooks', factory })}>See the webhooks</a>
          </p>
        </Empty>
      ) : (
        <div class="card">
          <ListTable columns={['Automation', 'State', 'Webhooks', 'Prompt']}>
            {value.automations.map(automation => (
              <Row key={automation.name} automation={automation} paused={value.paused.has(automation.name)} />
            ))}
          </ListTable>
        </div>
      )}
    </>
  );
}

interface RowProperties {
  readonly automation: ListedAutomation;
  readonly paused: boolean;
}

function Row({ automation, paused }: RowProperties) {
  const { factory } = useFactory();
  const { name, enabled, triggers, prompt } = automation;
  const webhooks = new Map(triggers.map(({ uid, webhook }) => [uid, webhook]));
  return (
    <tr>
      <th scope="row">
        <a href={toHref({ page: 'automation', factory, id: name })}>
          <bdi>{name}</bdi>
        </a>
      </th>
      <td>
        <EnabledPill enabled={enabled} paused={paused} />
      </td>
      <td>
        <span class="names">
          {[...webhooks].map(([uid, webhook]) =>
            webhook === null ? (
              <Pill key={uid} tone="warn">
                deleted webhook
              </Pill>
            ) : (
              <a key={uid} href={toHref({ page: 'webhook', factory, id: uid })}>
                <bdi>{webhook}</bdi>
              </a>
            ),
          )}
        </span>
      </td>
      <td class="excerpt t3">
        <Text text={prompt.slice(0, promptCharsShown)} />
      </td>
    </tr>
  );
}
