import process from "node:process";
import { runCli } from "./run-cli.ts";
import { processTerminal } from "./terminal.ts";

const shutdown = new AbortController();
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const) {
  process.on(signal, () => {
    if (shutdown.signal.aborted) process.exit(128 + number);
    shutdown.abort(new DOMException(`received ${signal}`, "AbortError"));
  });
}
process.exitCode = await runCli(process.argv.slice(2), {
  terminal: processTerminal(),
  environment: process.env,
  signal: shutdown.signal,
});
