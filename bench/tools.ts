/** How long the tool `sleep` of the benchmarks' own MCP server takes. */
export const sleepMs = 100;

/** How long its tool `rest` takes: longer than it takes another worker to notice that one is gone. */
export const restMs = 2_000;

/** How many characters its tool `page` gives. */
export const pageCharacters = 1_000;
