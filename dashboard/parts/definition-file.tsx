import type { ComponentChildren } from 'preact';
import { shortenRevision } from '../../schema/short-revision.ts';
import { useFactory } from '../state/current-factory.ts';
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
