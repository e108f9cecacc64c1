import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import type { ExecOutcome } from "../collect-exec.ts";
import { collectExec, endInWords } from "../collect-exec.ts";
import type { Tool, ToolOutcome, ToolRun } from "../tool.ts";
import { failed, succeeded } from "../tool.ts";
import { numberArgument, stringArgument } from "../tool-arguments.ts";

const readBytes = 1024 * 1024;
const publishBytes = 20 * 1024 * 1024;
const timeoutMs = 30_000;
const path = {
  type: "string",
  minLength: 1,
  maxLength: 1024,
  description: "Path relative to the workspace.",
};

/** The tools over files of the workspace. `script` is the source of the helper that runs in the sandbox. */
export function fileTools(script: string, artifacts: ArtifactStore): readonly Tool[] {
  return [readFile(script), writeFile(script), publishReport(script, artifacts)];
}

function readFile(script: string): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name: "read_file",
      description:
        "Reads a text file of the workspace, at most 1 MB; all of it, or some of its lines.",
      inputSchema: {
        type: "object",
        properties: {
          path,
          offset: { type: "integer", minimum: 0, description: "The first line, from 0." },
          limit: { type: "integer", minimum: 1, description: "How many lines. Absent: all." },
        },
        required: ["path"],
      },
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      idempotent: true,
      source: "builtin",
    }),
    async run(call, signal) {
      const { args } = call;
      const request = {
        operation: "read",
        path: stringArgument(args, "path"),
        offset: numberArgument(args, "offset") ?? 0,
        limit: numberArgument(args, "limit") ?? null,
        most_bytes: readBytes,
      };
      const done = await inSandbox(script, call, request, readBytes * 4, signal);
      return done.failure ?? succeeded(done.outcome.text("stdout"), done.record);
    },
  };
}

function writeFile(script: string): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name: "write_file",
      description:
        "Writes a text file of the workspace, with its folders; what was there is replaced.",
      inputSchema: {
        type: "object",
        properties: { path, content: { type: "string", description: "The whole content." } },
        required: ["path", "content"],
      },
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      // The same content at the same path: doing it twice is doing it once.
      idempotent: true,
      exclusiveLock: "workspace",
      source: "builtin",
    }),
    async run(call, signal) {
      if (call.settings?.readOnly === true) return failed("this agent may only read files");
      const request = {
        operation: "write",
        path: stringArgument(call.args, "path"),
        content: stringArgument(call.args, "content"),
      };
      const done = await inSandbox(script, call, request, 4096, signal);
      return done.failure ?? succeeded(done.outcome.text("stdout"), done.record);
    },
  };
}

function publishReport(script: string, artifacts: ArtifactStore): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name: "publish_report",
      description: "Publishes a file of the workspace as an artifact, which people can download.",
      inputSchema: {
        type: "object",
        properties: { path, title: { type: "string", description: "What the report is about." } },
        required: ["path"],
      },
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      // The artifact's id follows from the call: publishing it again changes nothing.
      idempotent: true,
      source: "builtin",
    }),
    async run(call, signal) {
      const { tenant, runId, callId, args } = call;
      const file = stringArgument(args, "path");
      const request = { operation: "raw", path: file, most_bytes: publishBytes };
      const done = await inSandbox(script, call, request, publishBytes + 4096, signal);
      if (done.failure !== undefined) return done.failure;
      const name = file.split("/").at(-1) ?? file;
      const draft = { name, mediaType: mediaTypeOf(name), runId, idempotencyKey: callId };
      const content = done.outcome.bytes("stdout");
      async function* once() {
        yield content;
      }
      const artifact = await artifacts.put(tenant, draft, once(), signal);
      const result: JsonObject = {
        artifact_id: artifact.artifactId,
        name,
        size_bytes: artifact.sizeBytes,
      };
      return succeeded(JSON.stringify(result), { structured: result, ...done.record });
    },
  };
}

type Done =
  | { readonly failure: ToolOutcome; readonly outcome?: never; readonly record?: never }
  | {
      readonly failure?: never;
      readonly outcome: ExecOutcome;
      readonly record: Partial<ToolOutcome>;
    };

async function inSandbox(
  script: string,
  { sandbox }: ToolRun,
  request: JsonObject,
  outputBytes: number,
  signal: AbortSignal,
): Promise<Done> {
  const place = await sandbox();
  const argv = ["/usr/bin/python3", "-I", "-X", "utf8", "-c", script];
  const command = { argv, stdin: JSON.stringify(request), timeoutMs, outputBytes };
  const outcome = await collectExec(place.exec(command, signal));
  const record = { endReason: outcome.end.reason, isolation: place.isolation };
  const trouble = endInWords(outcome.end);
  if (trouble === undefined && outcome.end.code === 0) return { outcome, record };
  return { failure: failed(trouble ?? outcome.text("stderr"), record) };
}

function mediaTypeOf(name: string): string {
  const types: Readonly<Record<string, string>> = {
    md: "text/markdown; charset=utf-8",
    txt: "text/plain; charset=utf-8",
    csv: "text/csv; charset=utf-8",
    json: "application/json",
    html: "text/html; charset=utf-8",
    png: "image/png",
    pdf: "application/pdf",
  };
  return types[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}
