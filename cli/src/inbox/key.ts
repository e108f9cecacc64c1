/** A key that a person pressed. */
export interface Key {
  /** Its name, such as `a`, `return`, `up`, or `pagedown`. Upper-case letters have the name of the lower-case ones. */
  readonly name: string;
  /** The text that it types, without control characters; empty for keys that type none. */
  readonly text: string;
  readonly isControl: boolean;
}
