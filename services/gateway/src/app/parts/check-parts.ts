import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { GivenFile } from "@reeve/agent/resolve/assert-reads";
import { mediaTypes, modalityOf } from "@reeve/contracts/content/media";
import type { ContentPart, FilePart } from "@reeve/contracts/content/parts";
import { ContentPartSchema, FilePartSchema } from "@reeve/contracts/content/parts";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { artifactIdOf, draftViolations } from "@reeve/jetstream/objects/artifact-draft";
import type { Violation } from "@reeve/platform/failure";
import type { GatewayPorts } from "../gateway-ports.ts";
import { headBytes, inspectMedia } from "@reeve/jetstream/objects/inspect-media";

/** The maximum size of a file, and of all files of a message. */
const maxBytes = 20 * 1024 * 1024;

/** The run that gets files, and the request with which they come. */
export interface PartsKey extends RunKey {
  /**
   * A random value of this attempt of a request. Two attempts never share an artifact, so that one that is refused can delete its own without
   * looking for references.
   */
  readonly nonce: string;
}

/** A file that came with a request. */
export interface GivenContent {
  readonly file: FilePart;
  readonly content: Uint8Array;
}

/** The parts of a message as a log records them, before their files are stored. */
export interface CheckedParts {
  readonly parts: readonly ContentPart[];
  readonly files: readonly GivenFile[];
  /** The files whose bytes came with the request. */
  readonly contents: readonly GivenContent[];
  readonly violations: readonly Violation[];
}

/**
 * Checks the parts of a message, and returns them in the form in which a log records them. Nothing is stored, and of each artifact only
 * the start is read.
 */
export async function checkParts(
  artifacts: Pick<GatewayPorts["artifacts"], "get" | "read">,
  key: PartsKey,
  { field, parts }: { readonly field: string; readonly parts: readonly ContentPart[] },
  signal: AbortSignal,
): Promise<CheckedParts> {
  const checked: ContentPart[] = [];
  const files: GivenFile[] = [];
  const contents: GivenContent[] = [];
  const violations: Violation[] = [];
  let bytes = 0;
  for (const [index, { part }] of parts.entries()) {
    if (part.case !== "file") {
      checked.push(create(ContentPartSchema, { part }));
      continue;
    }
    const at = `${field}[${index}].file`;
    const found = await checkFile(artifacts, key, { field: at, file: part.value }, signal);
    violations.push(...found.violations);
    if (found.file === undefined) continue;
    const { file, content } = found;
    bytes += file.sizeBytes;
    files.push({ field: at, mediaType: file.mediaType });
    checked.push(create(ContentPartSchema, { part: { case: "file", value: file } }));
    if (content !== undefined) contents.push({ file, content });
  }
  if (bytes > maxBytes) {
    const description = `have files of ${bytes} bytes in total; the limit is ${maxBytes}; send fewer`;
    violations.push({ field, description, reason: "TOO_LARGE" });
  }
  return { parts: checked, files, contents, violations };
}

interface CheckedFile {
  readonly file?: FilePart;
  readonly content?: Uint8Array;
  readonly violations: readonly Violation[];
}

interface Given {
  readonly field: string;
  readonly file: FilePart;
}

async function checkFile(
  artifacts: Pick<GatewayPorts["artifacts"], "get" | "read">,
  key: PartsKey,
  given: Given,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const { field, file } = given;
  if ((file.artifactId === "") === (file.content.length === 0)) {
    const description = "needs either an artifact_id or its content";
    return { violations: [{ field, description, reason: "CONTRADICTION" }] };
  }
  return file.artifactId === ""
    ? checkContent(key, given)
    : await checkArtifact(artifacts, key.tenant, given, signal);
}

/** The same content is the same artifact of a request, which stores it once. */
function checkContent(key: PartsKey, { field, file }: Given): CheckedFile {
  const { content, mediaType, name } = file;
  const sha256 = createHash("sha256").update(content).digest("hex");
  const draft = { name: name || "file", mediaType, runId: key.run };
  const artifactId = artifactIdOf(key.tenant, {
    ...draft,
    idempotencyKey: contentKey(key, sha256),
  });
  const named = draftViolations(draft, field);
  const described = create(FilePartSchema, {
    artifactId,
    mediaType,
    name: draft.name,
    sizeBytes: content.length,
    sha256,
  });
  const checked = inspected({ field, file: described }, content.subarray(0, headBytes));
  return { ...checked, content, violations: [...named, ...checked.violations] };
}

/** Returns what the id of the artifact with a file of a request is derived from. */
export function contentKey({ run, nonce }: PartsKey, sha256: string): string {
  return `part:${run}:${nonce}:${sha256}`;
}

async function checkArtifact(
  artifacts: Pick<GatewayPorts["artifacts"], "get" | "read">,
  tenant: string,
  { field, file: { artifactId, mediaType, name } }: Given,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const artifact = await artifacts.get(tenant, artifactId, signal);
  if (artifact === undefined) {
    const description = `artifact ${artifactId} not found; upload it first`;
    const violation = { field: `${field}.artifact_id`, description, reason: "NOT_FOUND" };
    return { violations: [violation] };
  }
  const { sizeBytes, sha256 } = artifact;
  const described = create(FilePartSchema, {
    artifactId,
    mediaType: mediaType || artifact.mediaType,
    name: name || artifact.name,
    sizeBytes,
    sha256,
  });
  const named = draftViolations(described, field);
  // The rest of a file that is too large is not read.
  const head =
    sizeBytes > maxBytes ? new Uint8Array() : await headOf(artifacts, tenant, artifactId, signal);
  const checked = inspected({ field, file: described }, head);
  return { ...checked, violations: [...named, ...checked.violations] };
}

async function headOf(
  artifacts: Pick<GatewayPorts["artifacts"], "read">,
  tenant: string,
  artifactId: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of artifacts.read(tenant, artifactId, signal)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= headBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, headBytes);
}

function inspected({ field, file }: Given, head: Uint8Array): CheckedFile {
  const { mediaType, sizeBytes } = file;
  const refused = (reason: string, description: string, at = field) => ({
    violations: [{ field: at, description, reason }],
  });
  if (modalityOf(mediaType) === undefined) {
    const description = `"${mediaType}" is not a media type that models read: ${mediaTypes.join(", ")}; pass other files as \`files\`, for tools`;
    return refused("UNKNOWN_MEDIA_TYPE", description, `${field}.media_type`);
  }
  if (sizeBytes === 0) return refused("EMPTY", "is an empty file");
  if (sizeBytes > maxBytes) {
    return refused("TOO_LARGE", `has ${sizeBytes} bytes; the limit is ${maxBytes}`);
  }
  const size = inspectMedia(head, mediaType);
  if (!("width" in size)) return refused(...size);
  return { file: create(FilePartSchema, { ...file, ...size }), violations: [] };
}
