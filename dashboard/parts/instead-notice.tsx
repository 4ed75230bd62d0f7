import type { ProblemDetails } from '../api-failure.ts';
import { CopyableBlock } from './copyable.tsx';
import { Code, Text } from './text.tsx';

interface Properties {
  readonly title: string;
  readonly instead: NonNullable<ProblemDetails['instead']>;
}

/** Says how to make a change in definition files when the dashboard may not make it. */
export function InsteadNotice({ title, instead }: Properties) {
  return (
    <div class="notice" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      <p>
        <Text text={instead.text} />
      </p>
      {instead.yaml !== undefined && (
        <CopyableBlock text={instead.yaml} what={instead.file ?? 'definition file'} />
      )}
      {instead.yaml === undefined && instead.file && (
        <p>
          <Code text={instead.file} />
        </p>
      )}
    </div>
  );
}
