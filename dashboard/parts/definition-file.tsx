import type { ComponentChildren } from 'preact';
import type { DiffLine } from '../../schema/changes/show-change.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import { useFactory } from '../state/current-factory.ts';
import { escapeInvisible } from '../text/format-values.ts';
import { CopyableBlock } from './copyable.tsx';
import { Code } from './text.tsx';

interface Properties {
  readonly definition: { readonly file: string | null; readonly yaml: string };
  /** The label of the YAML if no file is known. */
  readonly name: string;
  /** Says how to change the definition. */
  readonly children: ComponentChildren;
}

/** The definition file of a webhook or an automation; nothing if it is managed in the dashboard. */
export function DefinitionFileSection({ definition: { file, yaml }, name, children }: Properties) {
  const { managedHere, revision } = useFactory();
  if (managedHere) return null;
  return (
    <section class="card padded">
      <h2>Definition file</h2>
      {file !== null && revision !== null && (
        <p>
          <Code text={file} /> at revision <Code text={shortenRevision(revision)} />
        </p>
      )}
      {children}
      <CopyableBlock text={yaml} what={file ?? name} />
    </section>
  );
}

export function DiffBlock({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <pre class="diff" tabIndex={0}>
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </pre>
  );
}

function Line({ line: { mark, text } }: { readonly line: DiffLine }) {
  const shown = `${mark} ${escapeInvisible(text)}\n`;
  if (mark === '+') return <ins>{shown}</ins>;
  return mark === '-' ? <del>{shown}</del> : <span>{shown}</span>;
}
