import { useState } from 'preact/hooks';
import { identitySourceTexts, shortenRevision } from '../../../schema/clients/describe.ts';
import type { ShownDelivery } from '../../api-answers.ts';
import { requestApi } from '../../api-client.ts';
import { useTabKeys } from '../../state/keyboard.ts';
import { useLoad } from '../../state/loading.ts';
import { escapeInvisible } from '../../text/format-values.ts';
import { foundNodesMax } from '../../text/payload-tree.ts';
import { Button, Finder, Segments } from '../controls.tsx';
import { CopyButton } from '../copyable.tsx';
import { Waiting } from '../lists.tsx';
import { Code, Fact, Facts, Text } from '../text.tsx';
import { PayloadTree, usePayloadSearch } from './payload-tree.tsx';

interface Properties {
  readonly delivery: ShownDelivery;
  readonly payload: string;
  /** Where its exact body is. */
  readonly bodyUrl: string;
  /** Lists deliveries whose payload contains a text. */
  readonly onFilter: (text: string) => void;
}

const parts = ['payload', 'headers', 'identity', 'raw'] as const;
type Part = (typeof parts)[number];

/** What was kept of a request: its payload as a tree, its headers, how it was recognised, and its exact body. */
export function DeliveryParts({ delivery, payload, bodyUrl, onFilter }: Properties) {
  const { headers = {} } = delivery;
  const [part, setPart] = useState<Part>('payload');
  const { root, search, setSought, go } = usePayloadSearch(payload);
  useTabKeys(parts, part, setPart);
  const labels = {
    payload: 'Payload',
    headers: `Headers ${Object.keys(headers).length}`,
    identity: 'Identity',
    raw: 'Raw',
  };
  return (
    <section aria-label="Request">
      <div class="sec wrap parts">
        <Segments
          label="Parts of the delivery"
          value={part}
          options={parts.map(each => [each, labels[each]] as const)}
          onChange={setPart}
        />
        {part === 'payload' && <TreeSearch search={search} setSought={setSought} go={go} />}
        {part === 'raw' && (
          <span class="push">
            <CopyButton text={payload} what="payload" />
          </span>
        )}
      </div>
      {part === 'payload' && (
        <PayloadTree
          {...{ payload, root, search, onFilter }}
          webhook={delivery.outcome === 'Manual' ? undefined : delivery.webhook}
        />
      )}
      {part === 'headers' && <Headers headers={headers} />}
      {part === 'identity' && <Identity delivery={delivery} />}
      {part === 'raw' && (
        <Raw id={delivery.id} payload={payload} isForm={delivery.form !== undefined} url={bodyUrl} />
      )}
    </section>
  );
}

type SearchProperties = Omit<ReturnType<typeof usePayloadSearch>, 'root'>;

function TreeSearch({ search: { sought, found, at }, setSought, go }: SearchProperties) {
  const count = found.paths.length;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && sought !== '') setSought('');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="push flow tree-search">
      {count > 1 && (
        <>
          <Button
            look="icon small quiet"
            icon="left"
            aria-label="Previous match"
            title="Shift+Enter"
            onClick={() => go(-1)}
          />
          <Button
            look="icon small quiet"
            icon="right"
            aria-label="Next match"
            title="Enter"
            onClick={() => go(1)}
          />
        </>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the field in it */}
      <span onKeyDown={onKeyDown}>
        <Finder
          label="Search the payload"
          value={sought}
          onInput={setSought}
          aside={
            sought !== '' && (
              <span role="status">
                {count === 0 ? 'not found' : `${at + 1} of ${count}${count === foundNodesMax ? '+' : ''}`}
              </span>
            )
          }
        />
      </span>
    </span>
  );
}

function Headers({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const named = Object.entries(headers);
  if (named.length === 0) return <p class="t3">No headers were kept.</p>;
  return (
    <Facts>
      {named.map(([name, value]) => (
        <Fact term={name} key={name} value={<Code text={value} />} />
      ))}
    </Facts>
  );
}

function Identity({ delivery }: { readonly delivery: ShownDelivery }) {
  const { id, identity, identitySource, authenticatedBy, verifiedWith, form, commit } = delivery;
  return (
    <Facts>
      {identity !== null && (
        <Fact
          term="Identity"
          value={
            <>
              <Code text={identity} />
              {identitySource && <span class="t3"> from {identitySourceTexts[identitySource]}</span>}
            </>
          }
        />
      )}
      {authenticatedBy !== undefined && (
        <Fact
          term="Authenticated by"
          value={
            <>
              <Text text={authenticatedBy} />
              {verifiedWith && <span class="t3"> with the previous secret</span>}
            </>
          }
        />
      )}
      {form && (
        <Fact
          term="Body"
          value={
            <>
              a form
              {form.payloadField !== undefined && (
                <>
                  , with its payload in the field <Code text={form.payloadField} />
                </>
              )}
            </>
          }
        />
      )}
      {commit && (
        <Fact
          term="Commit"
          value={
            <>
              <Code text={shortenRevision(commit.revision)} /> <Text text={commit.subject} />
            </>
          }
        />
      )}
      <Fact term="Delivery ID" value={<Code text={id} />} />
    </Facts>
  );
}

interface RawProperties {
  readonly id: string;
  readonly payload: string;
  readonly isForm: boolean;
  readonly url: string;
}

/** The body as it came. Only the body of a form is not the payload. */
function Raw({ id, payload, isForm, url }: RawProperties) {
  const { value, error, reload } = useLoad(
    async signal => (isForm ? (await requestApi(url, { signal })).text() : payload),
    [id],
  );
  if (value === undefined) return <Waiting error={error} reload={reload} what="the body" />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <pre class="raw" tabIndex={0}>
      {escapeInvisible(value)}
    </pre>
  );
}
