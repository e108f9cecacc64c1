/** What a page shows: its text, in which elements that can be used have references such as `e12`. */
export interface PageView {
  /** The first part of its address. */
  readonly url: string;
  /** The first part of its title. */
  readonly title: string;
  readonly text: string;
}
