import type { VNode } from 'preact';

const dots = [3.5, 8, 12.5].map(x => <circle key={x} cx={x} cy="8" r=".6" />);

const icons = {
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3 3" />
    </>
  ),
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  right: <path d="M6.5 4.5 10 8l-3.5 3.5" />,
  left: <path d="M9.5 4.5 6 8l3.5 3.5" />,
  more: <>{dots}</>,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 3.5V3a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1H4" />
    </>
  ),
  send: <path d="M2.5 8 13.5 3l-3 10.5-3-4z" />,
  again: <path d="M3 8a5 5 0 1 0 1.5-3.5L3 6M3 3v3h3" />,
  check: <path d="m3.5 8.5 3 3 6-6.5" />,
  download: <path d="M8 3v7M5 7.5l3 3 3-3M3.5 13h9" />,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  external: <path d="M9.5 3H13v3.5M13 3 8 8M11 9.5V13H3V5h3.5" />,
  overview: <path d="M2.5 8.5 8 3l5.5 5.5M4 7.5v6h8v-6" />,
  webhook: (
    <>
      <circle cx="9.5" cy="3.5" r="1.5" />
      <path d="M9.5 5v5.5a3 3 0 0 1-6 0v-2l2.2 2.2" />
    </>
  ),
  automation: <path d="M9 2 4 9h4l-1 5 5-7H8z" />,
  delivery: <path d="M2.5 9.5V13h11V9.5L11.5 3h-7zM2.5 9.5h3.2l.8 1.5h3l.8-1.5h3.2" />,
  run: <path d="M5 3.5v9L12 8z" />,
  settings: (
    <>
      <path d="M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5" />
      <circle cx="9.5" cy="5" r="2" />
      <circle cx="6.5" cy="11" r="2" />
    </>
  ),
} satisfies Record<string, VNode>;

export type IconName = keyof typeof icons;

/** An icon, 16 px. A text beside it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      {icons[name]}
    </svg>
  );
}
