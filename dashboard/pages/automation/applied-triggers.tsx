import type { ShownAutomation } from '../../api-types.ts';
import { CopyableBlock } from '../../parts/copyable.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Code, Text } from '../../parts/text.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { toHref } from '../../state/page-location.ts';
import { formatFilter } from '../../text/format-filter.ts';

type Triggers = ShownAutomation['triggers'];

export function AppliedTriggers({ triggers }: { readonly triggers: Triggers }) {
  return (
    <section class="card padded">
      <h2>{triggers.length === 1 ? 'Trigger' : 'Triggers'}</h2>
      <ul class="triggers">
        {triggers.map((trigger, index) => (
          <AppliedTrigger key={index} trigger={trigger} />
        ))}
      </ul>
    </section>
  );
}

function AppliedTrigger({ trigger }: { readonly trigger: Triggers[number] }) {
  const { factory } = useFactory();
  const { uid, webhook, payload, headers } = trigger;
  const isFiltered = payload !== undefined || headers !== undefined;
  return (
    <li>
      {webhook === null ? (
        <p>
          <Code text={uid} /> <Pill tone="warn">deleted webhook: never fires</Pill>
        </p>
      ) : (
        <p>
          {isFiltered ? 'A delivery to ' : 'Every delivery to '}
          <a href={toHref({ page: 'webhook', factory, id: uid })}>
            <Text text={webhook} />
          </a>
          {isFiltered ? describeCondition(trigger) : ' starts a run.'}
        </p>
      )}
      {headers !== undefined && <CopyableBlock text={formatFilter(headers)} what="header filter" />}
      {payload !== undefined && <CopyableBlock text={formatFilter(payload)} what="payload filter" />}
    </li>
  );
}

function describeCondition({ payload, headers }: Triggers[number]): string {
  if (headers === undefined) return ' starts a run if its payload matches:';
  return ` starts a run if its headers${payload === undefined ? '' : ' and its payload'} match:`;
}
