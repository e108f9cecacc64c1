import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { check, violationsOf } from "../../test/check.ts";

const execute = { permissionClasses: ["execute"] };

describe("the network settings of an agent", () => {
  test("accept hosts with ports", () => {
    const allow = ["example.org:443", "*.example.org:8443", "203.0.113.7:80"];
    expect(violationsOf({ ...execute, deepAgent: { network: { allow } } })).toEqual([]);
    expect(violationsOf({ deepAgent: { network: { allow: [] } } })).toEqual([]);
  });

  test("are rejected for each malformed entry, by its index", () => {
    const allow = ["example.org:443", "example.org", "*:443"];
    expect(violationsOf({ ...execute, deepAgent: { network: { allow } } })).toEqual([
      "deep_agent.network.allow[1]: MALFORMED",
      "deep_agent.network.allow[2]: MALFORMED",
    ]);
  });

  test("are accepted for an agent that asks for code, or for web tools", () => {
    const deepAgent = { network: { allow: ["example.org:443"] } };
    const allowedTools = fromJson(ListValueSchema, ["fetch_page"]);
    expect(violationsOf({ deepAgent, permissionClasses: ["network"] })).toEqual([]);
    expect(violationsOf({ deepAgent, allowedTools })).toEqual([]);
    expect(check({ deepAgent }).violations).toMatchObject([
      {
        field: "deep_agent.network.allow",
        reason: "CLASS_NOT_GRANTED",
        description: expect.stringContaining("execute, network, or both") as string,
      },
    ]);
  });

  test("name credentials only for hosts, with the class for secrets, and by their names", () => {
    const network = { allow: ["example.org:443"], credentials: ["tracker"] };
    const classes = ["execute", "secrets"];
    expect(violationsOf({ permissionClasses: classes, deepAgent: { network } })).toEqual([]);
    expect(violationsOf({ ...execute, deepAgent: { network } })).toEqual([
      "deep_agent.network.credentials: CLASS_NOT_GRANTED",
    ]);
    const alone = { network: { credentials: ["tracker"] } };
    expect(violationsOf({ permissionClasses: classes, deepAgent: alone })).toEqual([
      "deep_agent.network.credentials: MISSING_HOSTS",
    ]);
    const odd = { network: { allow: network.allow, credentials: ["a/b"] } };
    expect(violationsOf({ permissionClasses: classes, deepAgent: odd })).toEqual([
      "deep_agent.network.credentials[0]: STRING_PATTERN",
    ]);
  });

  test("must not repeat an entry, or have too many", () => {
    const twice = ["example.org:443", "example.org:443"];
    expect(violationsOf({ ...execute, deepAgent: { network: { allow: twice } } })).toEqual([
      "deep_agent.network.allow: REPEATED_UNIQUE",
    ]);
    const many = Array.from({ length: 101 }, (_, index) => `h${index}.example.org:443`);
    expect(violationsOf({ ...execute, deepAgent: { network: { allow: many } } })).toEqual([
      "deep_agent.network.allow: REPEATED_MAX_ITEMS",
    ]);
  });
});
