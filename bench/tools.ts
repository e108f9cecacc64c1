/** How long the tool `sleep` of the benchmarks' own MCP server takes. */
export const sleepMs = 100;

/** How many characters its tool `page` gives. */
export const pageCharacters = 1_000;
