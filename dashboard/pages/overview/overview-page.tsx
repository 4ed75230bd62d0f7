import type { ShownStatus } from '../../api-types.ts';
import { PageHeading } from '../../parts/page-heading.tsx';
import { FactoryHealth } from '../home/factory-health.tsx';

/** How a factory does: what needs attention, the numbers of a day, and its webhooks. */
export function OverviewPage({ status }: { readonly status: ShownStatus }) {
  return (
    <div class="page">
      <PageHeading title="Overview" />
      <FactoryHealth factory={status.factory} span="day" />
    </div>
  );
}
