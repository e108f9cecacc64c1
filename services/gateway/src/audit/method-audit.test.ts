import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { IdentityService } from "@reeve/contracts/identity";
import { AgentService, ModelService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { Recording } from "@reeve/contracts/access/audit";
import { AuditService } from "@reeve/contracts/audit";
import { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { MemoryService } from "@reeve/contracts/memory";
import { NotificationService } from "@reeve/contracts/notification";
import { OperationsService } from "@reeve/contracts/operations";
import { PasskeyService } from "@reeve/contracts/passkey";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { TriggerService } from "@reeve/contracts/trigger";
import { ToolService, WorkspaceService } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { auditOf } from "./method-audit.ts";

const methods = [
  IdentityService,
  AgentService,
  ApprovalService,
  ArtifactService,
  AuditService,
  KnowledgeService,
  MemoryService,
  ModelService,
  NotificationService,
  OperationsService,
  PasskeyService,
  ReceiptService,
  RunService,
  ThreadService,
  TriggerService,
  ToolService,
  WorkflowService,
  WorkspaceService,
].flatMap((service) => service.methods);
const named = methods.map((method) => [`${method.parent.name}/${method.name}`, method] as const);

describe.each(named)("the contract of %s", (_, method) => {
  const { recording, action, resources, choices, parts } = auditOf(method);
  const input = parts ? typeOfList(method.input, parts.request) : method.input;
  const output = parts ? typeOfList(method.output, parts.response) : method.output;

  test("says whether calls are recorded", () => {
    expect(recording).not.toBe(Recording.UNSPECIFIED);
    const isRead = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
    expect(recording === Recording.CHANGE).toBe(!isRead);
  });

  test("names an action if calls are recorded", () => {
    expect(/^[a-z]+\.[a-z]+$/.test(action)).toBe(recording !== Recording.NEVER);
  });

  test("names only ids and choices, which have no content", () => {
    const ids = resources.flatMap(({ request, response }) => [
      ...(request === "" ? [] : [fieldAt(input, request)]),
      ...(response === "" ? [] : [fieldAt(output, response)]),
    ]);
    expect(ids.filter((name) => !/^(?:id|path|\w+_id)$/.test(name))).toEqual([]);
    expect(choices.filter((path) => !isBool(method, path))).toEqual([]);
  });
});

/** Returns the type of the messages of a repeated field. */
function typeOfList({ typeName, fields }: DescMessage, name: string): DescMessage {
  const field = fields.find((each) => each.name === name);
  if (field?.fieldKind === "list" && field.listKind === "message") return field.message;
  throw new Error(`${typeName} has no repeated message ${name}`);
}

/** Returns the name of the last field of a path, all of which exist. */
function fieldAt(schema: DescMessage, path: string): string {
  const [name = "", ...rest] = path.split(".");
  const field = schema.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}`);
  if (field.fieldKind === "message") return fieldAt(field.message, rest.join("."));
  return field.name;
}

function isBool({ input }: DescMethod, path: string): boolean {
  return input.fields.some(({ name, scalar }) => name === path && scalar === ScalarType.BOOL);
}
