/** The paths of each icon, on 16 × 16, as text: a kept element would keep the whole page that has shown it in memory. */
const icons = {
  search: 'M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0m-1 3.5 3 3',
  down: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  right: 'M6.5 4.5 10 8l-3.5 3.5',
  left: 'M9.5 4.5 6 8l3.5 3.5',
  more: 'M3 8a.5.5 0 0 1 1 0 .5.5 0 0 1-1 0m4.5 0a.5.5 0 0 1 1 0 .5.5 0 0 1-1 0M12 8a.5.5 0 0 1 1 0 .5.5 0 0 1-1 0',
  copy: 'M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5m3.5-2V3a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1H4',
  send: 'M2.5 8 13.5 3l-3 10.5-3-4z',
  again: 'M3 8a5 5 0 1 0 1.5-3.5L3 6M3 3v3h3',
  check: 'm3.5 8.5 3 3 6-6.5',
  download: 'M8 3v7M5 7.5l3 3 3-3M3.5 13h9',
  plus: 'M8 3.5v9M3.5 8h9',
  close: 'm4 4 8 8M12 4l-8 8',
  external: 'M9.5 3H13v3.5M13 3 8 8M11 9.5V13H3V5h3.5',
  overview: 'M2.5 8.5 8 3l5.5 5.5M4 7.5v6h8v-6',
  webhook: 'M8 3.5a1.5 1.5 0 0 1 3 0 1.5 1.5 0 0 1-3 0M9.5 5v5.5a3 3 0 0 1-6 0v-2l2.2 2.2',
  automation: 'M9 2 4 9h4l-1 5 5-7H8z',
  delivery: 'M2.5 9.5V13h11V9.5L11.5 3h-7zM2.5 9.5h3.2l.8 1.5h3l.8-1.5h3.2',
  run: 'M5 3.5v9L12 8z',
  settings: 'M2.5 5h5m4 0h2m-11 6h2m4 0h5M7.5 5a2 2 0 0 1 4 0 2 2 0 0 1-4 0m-3 6a2 2 0 0 1 4 0 2 2 0 0 1-4 0',
};

export type IconName = keyof typeof icons;

/** An icon, 16 px. A text beside it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}
