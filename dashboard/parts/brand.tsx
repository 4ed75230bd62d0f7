export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <circle cx="19" cy="6.5" r="2.5" />
        <path d="M19 9v11a5.5 5.5 0 0 1-11 0v-3.500l4 4" />
      </svg>
      hookmill
    </span>
  );
}
