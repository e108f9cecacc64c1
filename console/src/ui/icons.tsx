/** Line icons of 16 pixels. They accompany text, so screen readers skip them. */
const paths = {
  runs: "M3 4h10M3 8h10M3 12h6",
  inbox: "M2.5 9.5 4.5 3h7l2 6.5V13h-11V9.5ZM2.5 9.5H6c0 1 .8 2 2 2s2-1 2-2h3.5",
  agents: "M8 2.5v2M4 4.5h8v6.5H4zM2.5 7v2M13.5 7v2M6.5 7.2v1M9.5 7.2v1M6 13.5h4",
  chat: "M2.5 3.5h11v7.5H7.5L4.5 13.5V11h-2z",
  models: "M8 2.5 13.5 5.5v5L8 13.5 2.5 10.5v-5zM2.5 5.5 8 8.5l5.5-3M8 8.5v5",
  operate: "M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-5.5M13.5 13.5v-11",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2",
  audit: "M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2",
  key: "M5.5 7a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM7.5 7.8 13 2.5M11 4.4l1.8 1.8",
  chevron: "m6 4 4 4-4 4",
  check: "m3.5 8.5 3 3 6-7",
  cross: "m4 4 8 8M12 4l-8 8",
  copy: "M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z",
  system: "M2.5 3.5h11v7h-11zM6 13.5h4M8 10.5v3",
  out: "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  tool: "M9.5 2.8a3.5 3.5 0 0 0-4 4.7L2.5 10.5v3h3l3-3a3.5 3.5 0 0 0 4.7-4L11 8.7 8.5 8 7.6 5.2z",
  branch: "M4.5 2.5v11M4.5 8h4c2 0 3-1 3-3V3.5M9.5 5.5l2-2 2 2",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  send: "M2.5 8 13.5 2.5 10 13.5 7.5 9z",
  stop: "M4.5 4.5h7v7h-7z",
  plus: "M8 3v10M3 8h10",
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2ZM8 4.8V8l2.2 1.6",
  download: "M8 2.5v8M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
