import { ThreadService } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { serveRoutes } from "./support/small-server.ts";

test("a thread whose first turn has not ended has no messages, which people are told", async () => {
  const { signal } = new AbortController();
  await using server = await serveRoutes(
    (router) => void router.service(ThreadService, { listThreadMessages: () => ({}) }),
    0,
    signal,
  );
  const shown = async (...options: readonly string[]) => {
    const terminal = new MemoryTerminal();
    const args = ["--url", server.url, "threads", "show", "sales", ...options];
    const code = await runCli(args, { terminal, environment: {}, signal });
    return [code, terminal.stdout, terminal.stderr];
  };
  expect(await shown()).toEqual([0, "", "no messages: no turn of the thread has ended yet\n"]);
  expect(await shown("--json")).toEqual([0, "", ""]);
});
