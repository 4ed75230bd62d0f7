import { RunList } from '../../parts/log/run-list.tsx';
import { Breadcrumb, PageHeading } from '../../parts/page-heading.tsx';
import { RunPanel } from '../../parts/run-panel.tsx';
import { useFactory } from '../../state/current-factory.ts';

/** The runs of all automations of the factory. */
export function RunsPage() {
  return (
    <>
      <PageHeading title="Runs" />
      <RunList />
    </>
  );
}

/** A run at its own address. */
export function RunPage({ id }: { readonly id: string }) {
  const { factory } = useFactory();
  return (
    <>
      <Breadcrumb to={{ page: 'runs', factory }} label="Runs" />
      <PageHeading title={id} />
      <div class="card padded">
        <RunPanel id={id} />
      </div>
    </>
  );
}
