import { Key } from '../../parts/controls.tsx';
import { CopyButton } from '../../parts/copyable.tsx';
import { Sign } from '../../parts/signs.tsx';
import { useFactory } from '../../state/current-factory.ts';
import { useSettled } from '../../state/time.ts';
import type { AutomationText } from '../../state/use-automation-text.ts';
import type { CompletionSources } from '../../state/yaml-completions.ts';
import { formatCount } from '../../text/format-values.ts';
import { YamlEditor } from './yaml-editor.tsx';

/** Time from the last keystroke to what is said of mistakes, in ms. */
const pauseMs = 400;

interface Properties {
  readonly name: string;
  readonly document: AutomationText;
  readonly isReadOnly: boolean;
  readonly sources: CompletionSources;
  readonly onReview: () => void;
}

/** The text of an automation, with its file and whether it is valid. */
export function TextPane({ name, document, isReadOnly, sources, onReview }: Properties) {
  const { managedHere } = useFactory();
  const { text, draft, setText } = document;
  const diagnostics = useSettled(draft.diagnostics, pauseMs);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return (
    <div class="code">
      <header>
        <span class="mono cut">automations/{name === '' ? '<name>' : name}.yaml</span>
        <span class="push flow" role="status">
          <Sign name={errors === 0 ? 'done' : 'failed'} />
          {errors === 0 ? 'valid' : formatCount(errors, 'mistake')}
        </span>
        {!isReadOnly && (
          <span class="no-phone flow">
            <Key>Ctrl Space</Key> completes
          </span>
        )}
        {!managedHere && <CopyButton text={text} what="file" />}
      </header>
      <YamlEditor
        text={text}
        label="Definition"
        isReadOnly={isReadOnly}
        diagnostics={diagnostics}
        sources={sources}
        onChange={setText}
        onReview={onReview}
      />
    </div>
  );
}
