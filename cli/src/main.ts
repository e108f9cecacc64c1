import process from "node:process";
import { runCli } from "./run-cli.ts";
import { processTerminal } from "./terminal.ts";

const end = new AbortController();
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const) {
  process.on(signal, () => {
    if (end.signal.aborted) process.exit(128 + number);
    end.abort(new DOMException(`got ${signal}`, "AbortError"));
  });
}
const terminal = processTerminal(process.env);
process.exitCode = await runCli(process.argv.slice(2), {
  terminal,
  environment: process.env,
  signal: end.signal,
});
