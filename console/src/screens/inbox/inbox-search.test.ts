import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { filterOf, readInboxSearch } from "./inbox-search.ts";

test("the filters of an address are read, and what is none of them is left out", () => {
  const search = { mine: true, agent: "payer", tool: 7, text: "", age: "2h", other: "x" };
  expect(readInboxSearch(search)).toEqual({ mine: true, agent: "payer", tool: "7" });
  expect(readInboxSearch({ mine: "yes", age: "1d" })).toEqual({ age: "1d" });
});

test("an age selects what was requested before a whole minute", () => {
  const nowMs = Date.parse("2030-01-02T03:04:05Z");
  expect(filterOf({ age: "1h", agent: "payer" }, nowMs)).toMatchObject({
    agentId: "payer",
    tool: "",
    forMe: false,
    requestedBefore: timestampFromMs(Date.parse("2030-01-02T02:04:00Z")),
  });
});
