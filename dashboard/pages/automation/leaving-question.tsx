import { Question } from '../../parts/dialog.tsx';
import { answerLeaving, askedAddress } from '../../state/current-location.ts';

/** Asks before a page with changes is left. */
export function LeavingQuestion() {
  if (askedAddress.value === undefined) return null;
  return (
    <Question
      title="Leave without applying your changes?"
      keep="Keep editing"
      act="Drop the changes"
      acting="Leaving…"
      isDangerous
      onAct={async () => answerLeaving(true)}
      onClose={() => askedAddress.value !== undefined && answerLeaving(false)}
    >
      <p>They are only on this page.</p>
    </Question>
  );
}
