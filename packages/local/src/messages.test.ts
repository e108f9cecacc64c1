import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { runAgent } from "./run-agent.ts";

/** Creates a provider whose model answers when the test calls `answer`. */
function waiting(): { readonly provider: ModelProvider; answer(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const usage = undefined;
  const turn = { messageJson: "{}", finishReason: "stop", calls: [], usage, model: "x" };
  return {
    answer: resolve,
    provider: {
      descriptor: create(ProviderDescriptorSchema, { name: "test" }),
      format: "test",
      async *stream() {
        await promise;
        yield { kind: "turn", turn };
      },
    },
  };
}

test("a blank message is refused, and so is a message while a hundred are pending", async () => {
  const { provider, answer } = waiting();
  const spec = { id: "a", name: "a", model: "test:x" };
  const { signal } = new AbortController();
  const run = runAgent(spec, "go", { providers: [provider], signal });
  for await (const { event } of run.events()) if (event.case === "modelCallStarted") break;
  await expect(run.send(" \u2003 ")).rejects.toMatchObject({ kind: "invalid" });
  for (let n = 0; n < 100; n++) await run.send("more");
  await expect(run.send("more")).rejects.toMatchObject({ reason: ErrorReason.INBOX_FULL });
  answer();
  await run.ended;
});

test("a message to a run that has ended is refused", async () => {
  const { provider, answer } = waiting();
  answer();
  const spec = { id: "a", name: "a", model: "test:x" };
  const { signal } = new AbortController();
  const run = runAgent(spec, "go", { providers: [provider], signal });
  await run.ended;
  await expect(run.send("more")).rejects.toMatchObject({ reason: ErrorReason.RUN_ENDED });
});
