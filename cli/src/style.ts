/** Adds a color or a font style to text, or returns the text unchanged where the terminal shows none. */
export type Style = (
  format: "bold" | "cyan" | "dim" | "green" | "red" | "yellow",
  text: string,
) => string;
