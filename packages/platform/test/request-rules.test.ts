import { create, createFileRegistry, setExtension } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MessageOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  file_buf_validate_validate,
  message as messageRules,
  MessageRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { pino } from "pino";
import { expect, test } from "vitest";
import { serve } from "../src/rpc/server.ts";

const log = pino({ level: "silent" });

/** Returns a service whose request has a rule. */
function serviceWith(expression: string) {
  const options = create(MessageOptionsSchema);
  const rules = create(MessageRulesSchema, { cel: [{ id: "rule", message: "no", expression }] });
  setExtension(options, messageRules, rules);
  const file = create(FileDescriptorProtoSchema, {
    name: "ruled.proto",
    package: "ruled",
    syntax: "proto3",
    dependency: ["buf/validate/validate.proto"],
    messageType: [{ name: "Ask", options }],
    service: [
      {
        name: "Ruled",
        method: [{ name: "Ask", inputType: ".ruled.Ask", outputType: ".ruled.Ask" }],
      },
    ],
  });
  const known = [...file_buf_validate_validate.dependencies, file_buf_validate_validate];
  const set = create(FileDescriptorSetSchema, { file: [...known.map(({ proto }) => proto), file] });
  const service = createFileRegistry(set).getService("ruled.Ruled");
  if (service === undefined) throw new Error("the service is missing");
  return service;
}

const serving = (expression: string) => {
  const options = { host: "127.0.0.1", port: 0, log, services: [serviceWith(expression)] };
  return serve(() => undefined, options, new AbortController().signal);
};

test("a server compiles the rules of its requests before it answers any", async () => {
  await expect(serving("this.nothing &&")).rejects.toThrow("failed to compile rule");
  await using server = await serving("true");
  expect(server.port).toBeGreaterThan(0);
});
