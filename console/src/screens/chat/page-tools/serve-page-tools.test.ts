import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { OfferToolsResponseSchema } from "@reeve/contracts/tool";
import { ErrorInfoSchema } from "@reeve/contracts/error-details";
import { expect, test } from "vitest";
import { pageTools } from "./page-tools.ts";
import type { PageToolPorts } from "./serve-page-tools.ts";
import { servePageTools } from "./serve-page-tools.ts";

type Part = ReturnType<typeof call> | Error;

function call(callId: string, name: string, args: { readonly theme?: string } = {}) {
  const value = { runId: "run_1", callId, name, arguments: args };
  return create(OfferToolsResponseSchema, { event: { case: "call", value } });
}

const failure = (reason: string, code: Code) =>
  new ConnectError(reason, code, undefined, [{ desc: ErrorInfoSchema, value: { reason } }]);
const ended = failure("RUN_ENDED", Code.FailedPrecondition);

/** Serves the tools to streams that give these parts, and returns the answers, the themes, and the outcome. */
async function served(...streams: readonly (readonly Part[])[]) {
  const themes: string[] = [];
  const sent: unknown[] = [];
  let opened = 0;
  let lost = 1;
  const ports: PageToolPorts = {
    async *open() {
      for (const part of streams[opened++] ?? [ended]) {
        if (part instanceof Error) throw part;
        yield part;
      }
    },
    answer: async ({ callId, answer }) => {
      if (callId === "lost" && lost-- > 0) throw new ConnectError("lost", Code.Unavailable);
      sent.push([callId, answer?.case, answer?.value]);
    },
    wait: () => Promise.resolve(),
  };
  const tools = pageTools({
    selection: () => "Lisbon",
    setTheme: (theme) => void themes.push(theme),
  });
  const outcome = await servePageTools(ports, "page-1", tools, new AbortController().signal);
  return { sent, themes, outcome };
}

test("executes each call once, over lost connections, and sends an answer again that was lost", async () => {
  const { sent, themes, outcome } = await served(
    [call("c1", "set_theme", { theme: "dark" }), new ConnectError("lost", Code.Unavailable)],
    [call("c1", "set_theme", { theme: "dark" }), call("lost", "get_selection"), ended],
  );
  expect(themes).toEqual(["dark"]);
  expect(sent).toEqual([
    ["c1", "text", "The user sees the page in the theme dark."],
    ["lost", "text", "Lisbon"],
  ]);
  expect(outcome).toBeUndefined();
});

test("a tool that the page does not have is an error that the model reads", async () => {
  const { sent } = await served([call("c1", "format_disk"), ended]);
  expect(sent).toEqual([["c1", "error", "the page has no tool format_disk"]]);
});

test("stops when another tab offers the tools, or the server refuses them", async () => {
  const replaced = await served([failure("OFFER_REPLACED", Code.Aborted)]);
  expect(replaced.outcome).toBe("another tab offers the tools of this page");
  const refused = await served([new ConnectError("no such run", Code.NotFound)]);
  expect(refused.outcome).toBe("no such run");
});

test("sends an answer until the server has it, also if the call is repeated meanwhile", async () => {
  const { promise: sent, resolve: send } = Promise.withResolvers<string>();
  const { promise: repeated, resolve: repeat } = Promise.withResolvers<void>();
  let opened = 0;
  let executions = 0;
  let failing = 20;
  const outcome = await servePageTools(
    {
      async *open() {
        yield call("c1", "get_selection");
        if (opened++ === 0) throw new ConnectError("lost", Code.Unavailable);
        repeat();
        await sent;
        throw ended;
      },
      answer: async ({ callId = "" }) => {
        await repeated;
        if (failing-- > 0) throw new ConnectError("down", Code.Unavailable);
        send(callId);
      },
      wait: () => Promise.resolve(),
    },
    "page-1",
    pageTools({ selection: () => `${++executions}`, setTheme: () => undefined }),
    new AbortController().signal,
  );
  expect(outcome).toBeUndefined();
  expect([await sent, executions]).toEqual(["c1", 1]);
});
