import { assertBackendSupports } from "@reeve/agent/resolve/execution-backends";
import { ErrorReason } from "@reeve/contracts/error";
import type { StartRunRequest } from "@reeve/contracts/run";
import { OnBusy } from "@reeve/contracts/run";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { GatewayPorts } from "./gateway-ports.ts";

/** What the input and the messages before it may have together, in bytes. */
const maxBytes = 262_144;

/** Refuses a request that asks for what this version does not do, or that cannot be carried out. */
export async function checkStartRequest(
  { artifacts }: Pick<GatewayPorts, "artifacts">,
  tenant: string,
  request: StartRunRequest,
  signal: AbortSignal,
): Promise<void> {
  // Whether there are workspaces at this moment matters only to a run that is new.
  assertBackendSupports(request, "nats", new Set(["files"]));
  const violations = [
    ...conversationViolations(request),
    ...threadViolations(request),
    ...pathViolations(request),
    ...(await missingArtifacts({ artifacts }, tenant, request, signal)),
  ];
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `the request is not valid: ${list}`, {
    violations,
  });
}

function conversationViolations({ input, messages }: StartRunRequest): readonly Violation[] {
  const bytes = messages.reduce(
    (sum, { text }) => sum + Buffer.byteLength(text),
    Buffer.byteLength(input),
  );
  if (bytes <= maxBytes) return [];
  const description = `input and messages have ${bytes} bytes together; at most ${maxBytes} are accepted`;
  return [{ field: "messages", description, reason: "TOO_LARGE" }];
}

/** The conversation of a thread is its own: a client adds to it and does not bring another one. */
function threadViolations({ threadId, onBusy, messages }: StartRunRequest): readonly Violation[] {
  if (threadId === "") {
    if (onBusy === OnBusy.UNSPECIFIED) return [];
    const description = "means something only with a thread_id";
    return [{ field: "on_busy", description, reason: "CONTRADICTION" }];
  }
  if (messages.length === 0) return [];
  const description = "cannot be given beside a thread_id: the thread has the conversation";
  return [{ field: "messages", description, reason: "CONTRADICTION" }];
}

function pathViolations({ files }: StartRunRequest): readonly Violation[] {
  const seen = new Set<string>();
  return files.flatMap(({ path }, index) => {
    const field = `files[${index}].path`;
    const parts = path.split("/");
    if (parts.some((part) => part === "" || part === "." || part === "..") || path.includes("\0")) {
      const description = `"${path}" is no clean path relative to the workspace`;
      return [{ field, description, reason: "MALFORMED" }];
    }
    if (seen.has(path))
      return [{ field, description: `"${path}" is given twice`, reason: "REPEATED" }];
    seen.add(path);
    return [];
  });
}

async function missingArtifacts(
  { artifacts }: Pick<GatewayPorts, "artifacts">,
  tenant: string,
  { files }: StartRunRequest,
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const found = await Promise.all(
    files.map(({ artifactId }) => artifacts.get(tenant, artifactId, signal)),
  );
  return found.flatMap((artifact, index) =>
    artifact === undefined
      ? [
          {
            field: `files[${index}].artifact_id`,
            description: `there is no artifact ${files[index]?.artifactId ?? ""}; upload it first`,
            reason: "NOT_FOUND",
          },
        ]
      : [],
  );
}
