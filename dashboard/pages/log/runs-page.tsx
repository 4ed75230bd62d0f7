import { RunList } from '../../parts/log/run-list.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';

/** The runs of all automations of the factory. */
export function RunsPage() {
  return (
    <>
      <PageHeading title="Runs" />
      <RunList title="All automations" />
    </>
  );
}
