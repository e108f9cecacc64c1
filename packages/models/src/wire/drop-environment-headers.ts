/**
 * Removes the headers that a client of OpenAI or Anthropic took from a variable of the process, such as OPENAI_CUSTOM_HEADERS: they may be
 * secrets of the vendor, and the client has no option against them. Throws a TypeError for any other client.
 */
export function dropEnvironmentHeaders(client: object): void {
  const options: unknown = Reflect.get(client, "_options");
  if (typeof options !== "object" || options === null) {
    throw new TypeError("the client keeps its headers elsewhere");
  }
  Reflect.set(options, "defaultHeaders", {});
}
