import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallRequest, ToolResult, ToolSettings } from "@reeve/contracts/tool";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import type { CallJournal } from "@reeve/jetstream/log/call-journal";
import { openCallJournal } from "@reeve/jetstream/log/open";
import { openCallRequests } from "@reeve/toolhost/test/support/call-requests";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { startToolhostProcess } from "@reeve/toolhost/test/support/toolhost-process";
import { factsUntilEnd, keyOf, resultOf } from "@reeve/toolhost/test/support/toolhost";
import type { DriverName } from "./driver-name.ts";

/** Maximum size of a published file. */
export const maxArtifactBytes = 8_000_000;

/** A toolhost in its own process, with its own NATS server and a secret in its environment. */
export interface AttackedToolhost {
  readonly process: ChildProcess;
  readonly journal: CallJournal;
  /** Executes a tool call in the workspace of a run, and returns the result that the model would read. */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<ToolResult>;
  /** Prepares a workspace with Python code. Throws its error output if it fails. */
  prepare(runId: string, code: string): Promise<void>;
  /** Sends a request without waiting for its result. */
  send(name: string, args: JsonObject, options?: CallOptions): Promise<ToolCallRequest>;
}

export interface CallOptions {
  readonly runId?: string;
  readonly settings?: Partial<Pick<ToolSettings, "readOnly" | "codeTimeout">>;
}

/** Starts a toolhost process with the given driver, and with `canary` as its secret. */
export async function startAttackedToolhost(
  { sandbox, canary }: { readonly sandbox: DriverName; readonly canary: string },
  resources: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<AttackedToolhost> {
  const log = createLogger("test", "silent");
  const folder = await mkdtemp(join(tmpdir(), "reeve-attacked-"));
  // Attacks nest folders deeper than Node can delete.
  resources.defer(() => void execFileSync("rm", ["-rf", folder]));
  await chmod(folder, 0o711);
  const server = resources.use(
    await startNatsServer({ storeDir: join(folder, "nats"), log }, signal),
  );
  const nats = resources.use(await connectNats(server.url, { name: "test", log }, signal));
  const journal = await openCallJournal(nats);
  const requests = await openCallRequests(nats);
  const settings = {
    REEVE_CANARY: canary,
    OPENAI_API_KEY: canary,
    REEVE_MAX_ARTIFACT_BYTES: String(maxArtifactBytes),
  };
  const process = await startToolhostProcess(
    { natsUrl: server.url, folder, sandbox, settings },
    resources,
  );
  let calls = 0;
  const send: AttackedToolhost["send"] = async (
    name,
    args,
    { runId = "run_1", settings: callSettings } = {},
  ) => {
    const callId = `${runId}-${++calls}-0`;
    const request = create(ToolCallRequestSchema, {
      tenant: "acme",
      runId,
      call: { callId, name, arguments: args },
      workspace: { id: runId },
      ...(callSettings && { settings: callSettings }),
    });
    await requests.publish(request, signal);
    return request;
  };
  const call: AttackedToolhost["call"] = async (name, args, options) =>
    resultOf(await factsUntilEnd(journal, keyOf(await send(name, args, options)), signal));
  return {
    process,
    journal,
    send,
    call,
    prepare: async (runId, code) => {
      const command = ["python3", "-I", "-c", code];
      const { isError, content } = await call("run_command", { command }, { runId });
      if (isError) throw new Error(`cannot prepare the attack: ${content}`);
    },
  };
}
