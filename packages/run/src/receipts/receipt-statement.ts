import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { callDigest } from "@reeve/contracts/digest/call-digest";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { FilePart } from "@reeve/contracts/content/parts";
import type { CallReceipt, ReceiptResult } from "@reeve/contracts/receipt";
import { CallReceiptSchema } from "@reeve/contracts/receipt";
import type { BoundContent } from "@reeve/contracts/tool";
import type { CallHistory } from "./call-history.ts";
import { gateOf } from "./call-history.ts";
import type { ReceiptSource } from "./call-receipt.ts";
import { callReceipt, finalArguments } from "./call-receipt.ts";
import { receiptResult } from "./receipt-result.ts";

const statementType = "https://in-toto.io/Statement/v1";
const predicateType = "https://reeve.dev/receipt/call/v1";

/** Returns the payload of a receipt: an in-toto Statement. The same log gives the same bytes. */
export function receiptPayload(
  source: ReceiptSource,
  options: { readonly omitContent: boolean },
): Uint8Array {
  const statement: JsonObject = {
    _type: statementType,
    subject: subjectsOf(source),
    predicateType,
    predicate: toJson(CallReceiptSchema, callReceipt(source, options)),
  };
  return new TextEncoder().encode(canonicalJson(statement));
}

/** Returns the artifacts of a statement: the call as it was permitted, its result if it has one, and the files that it names. */
function subjectsOf({ ended }: ReceiptSource): JsonObject[] {
  const { callId, created, requested, result } = ended;
  const { name } = requested.call;
  const gate = gateOf(ended);
  const final = finalArguments(ended);
  const content = result?.value.result?.metadata?.content ?? gate?.content;
  const call = { name, ...(final && { arguments: final }) };
  return [
    subject(`call:${callId}`, callDigest(call, created, gate?.content)),
    ...(result ? resultSubjects(callId, receiptResult(result)) : []),
    ...attached(result).map(({ artifactId, sha256 }) => subject(`artifact:${artifactId}`, sha256)),
    ...filesOf(content).map(({ path, sha256 }) => subject(`file:${path}`, sha256)),
  ];
}

function resultSubjects(
  callId: string,
  { contentSha256, offloadedArtifactId, offloadedArtifactSha256 }: ReceiptResult,
): JsonObject[] {
  const content = subject(`result:${callId}`, contentSha256);
  if (offloadedArtifactSha256 === "") return [content];
  return [content, subject(`artifact:${offloadedArtifactId}`, offloadedArtifactSha256)];
}

/** Returns the files of a result that the model read, without the one that its metadata names. */
function attached(result: CallHistory["result"]): readonly FilePart[] {
  const { files = [], metadata } = result?.value.result ?? {};
  return files.filter(({ artifactId }) => artifactId !== metadata?.offloadedArtifactId);
}

function filesOf(content: BoundContent | undefined) {
  return (content?.files ?? []).filter(({ state }) => state === "file");
}

function subject(name: string, sha256: string): JsonObject {
  return { name, digest: { sha256 } };
}

/** What a payload states. */
export interface Statement {
  readonly subjects: readonly JsonValue[];
  readonly receipt: CallReceipt;
  /** Whether the statement has fields that this version does not know. */
  readonly isNewer: boolean;
}

/** Reads the payload of a receipt. Returns why it is none, as the end of a sentence about it. */
export function readStatement(payload: Uint8Array): Statement | string {
  let statement: unknown;
  try {
    statement = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    return "is not JSON in UTF-8";
  }
  if (typeof statement !== "object" || statement === null) return "is not a JSON object";
  const fields: Partial<Record<string, JsonValue>> = { ...statement };
  if (fields["_type"] !== statementType) {
    return `is not a statement of type ${statementType}, but ${shown(fields["_type"])}`;
  }
  if (fields["predicateType"] !== predicateType) {
    return `does not have the predicate type ${predicateType}, but ${shown(fields["predicateType"])}`;
  }
  const { predicate, subject: subjects } = fields;
  if (predicate === undefined || !Array.isArray(subjects)) return "has no subject or no predicate";
  try {
    const receipt = fromJson(CallReceiptSchema, predicate, { ignoreUnknownFields: true });
    const known = canonicalJson(toJson(CallReceiptSchema, receipt));
    return { subjects, receipt, isNewer: known !== canonicalJson(predicate) };
  } catch {
    return "has a predicate that is no receipt of a call";
  }
}

function shown(value: JsonValue | undefined): string {
  return JSON.stringify(value)?.slice(0, 100) ?? "none";
}
