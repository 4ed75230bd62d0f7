import { callApi } from '../../api-client.ts';
import { ChangeList } from '../../parts/change-list.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import type { AutomationBody } from '../../state/automation-draft.ts';
import { useFactory } from '../../state/current-factory.ts';
import { useLoad } from '../../state/use-load.ts';

interface Properties {
  readonly name: string;
  readonly automation: AutomationBody;
}

/** The changes that saving a draft would make. */
export function DraftChanges({ name, automation }: Properties) {
  const { factory } = useFactory();
  const { value, error, reload } = useLoad(
    signal =>
      callApi('post', '/factories/{factory}/automation-plan', {
        factory,
        body: { name, ...automation },
        signal,
      }),
    [factory, name],
  );
  return (
    <section class="card padded stack" aria-label="Changes">
      <h2>Changes</h2>
      {value ? (
        <ChangeList change={value.change} />
      ) : (
        <Waiting error={error} reload={reload} what="the changes" />
      )}
    </section>
  );
}
