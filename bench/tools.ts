/** Duration of the tool `sleep` of the benchmark's MCP server, in milliseconds. */
export const sleepMs = 100;

/** Duration of its tool `rest`, in milliseconds: longer than another worker needs to detect a lost one. */
export const restMs = 2_000;

/** Number of characters that its tool `page` returns. */
export const pageCharacters = 1_000;
