import type { JsonObject } from "@bufbuild/protobuf";
import { callSettings } from "@reeve/calls/settings/tool-settings";
import type { CallContext, Progress } from "@reeve/calls/ports/tool";

/** Returns the context of a call that needs no sandbox. */
export function contextOf(
  args: JsonObject = {},
  report: (progress: Progress) => void = () => undefined,
  more: Partial<CallContext> = {},
): CallContext {
  return {
    tenant: "acme",
    runId: "run_1",
    callId: "run_1-2-0",
    startedBy: "",
    traceparent: "",
    args,
    settings: callSettings(undefined),
    sandbox: () => Promise.reject(new Error("this tool has no sandbox")),
    report,
    ask: () => Promise.reject(new Error("no question is expected")),
    ...more,
  };
}
