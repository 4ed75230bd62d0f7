/** The mark: the four sails of a mill, each ending in a hook. */
export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <path d="M16 16V6.5h4M16 16h9.5v4M16 16v9.5h-4M16 16H6.5v-4" />
        <circle cx="16" cy="16" r="3.2" />
      </svg>
      hookmill
    </span>
  );
}
