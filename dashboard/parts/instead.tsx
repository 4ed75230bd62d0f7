import type { Instead } from '../../schema/api/problems.ts';
import { CopyableBlock } from './copyable.tsx';
import { Text } from './text.tsx';

interface Properties {
  readonly title: string;
  readonly instead: Instead;
}

/** What to do where definition files, not the dashboard, say what there is. */
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
          <code>
            <Text text={instead.file} />
          </code>
        </p>
      )}
    </div>
  );
}
