import { announcement } from '../state/announcements.ts';

export function Announcements() {
  const current = announcement.value;
  return (
    <div class="announcements" role="status" aria-live="polite">
      {current && (
        <p key={current.id} class="announcement">
          {current.text}
        </p>
      )}
    </div>
  );
}
