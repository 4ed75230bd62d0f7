import { Empty } from '../../parts/empty.tsx';
import { PageHeading } from '../../parts/page-heading.tsx';
import { toHref } from '../../state/page-location.ts';

export function NotFoundPage() {
  return (
    <>
      <PageHeading title="Page not found" />
      <Empty title="The dashboard has no page at this address.">
        <a href={toHref({ page: 'home' })}>Go to the start page</a>
      </Empty>
    </>
  );
}
