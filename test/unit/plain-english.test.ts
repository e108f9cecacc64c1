import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Identifiers that have a standard term, with that term. */
const identifiers: readonly (readonly [RegExp, string])[] = [
  // `mostBytes` is a field of the contract of workspace files.
  [/\b(?:most|fewest)(?!Bytes\b)[A-Z]\w*/, "max… or min…"],
  [/\busual[A-Z]\w*/, "default…"],
  [/\b\w*Mates\b/, "peers"],
  [/\b(?:lay|laid)[A-Z]\w*(?<!laidRuns?)\b/, "stage…"],
  [/\btold[A-Z]\w*|\btell[A-Z]\w*/, "report… or render…"],
  [/\bkeepAsked\b/, "republishLostRequest"],
  [/\b(?:Noted|Shown|Performed)\b/, "CallResult"],
  [/\b(?:class|interface|type|function|const) (?:Looked|seenTo)\b/, "SweepRecord"],
  [/\b(?:Run|Owned)Rest\b|\brestOf(?:Parked|Run)\b|\brestsParked\b/, "Ownership or OwnerOutcome"],
  [/\b(?:Stretch|Fed)\b/, "EventRange or FeedBatch"],
  [/\bDoor\b/, "Listener"],
  [
    /\b(?:Silence|Patience)\b|\bpatiently\b|\bpersistently\b|\buntilSilent\b/,
    "idleTimeout or retry",
  ],
  [/\bcommitForeign\b|\bForeign(?:Fact|Ports)\b/, "appendExternal"],
];

/** Phrases that read as translated, with what to write instead. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bis no mistake\b/i, "is not an error"],
  [/\bis (?:looked|seen) (?:for|after|to)\b/i, "an active verb: searches, maintains"],
  [/\bto be had\b/i, "available"],
  [/\b(?:is|are|been|was|were) told of\b/i, "is notified of, is reported"],
  [/\bbeforehand\b|\bthrown away\b|\blets go of\b/i, "in advance, discarded, releases"],
  [/\btell each other\b/i, "exchange"],
  [/\bgoes on\b|\bwent on\b/i, "continues"],
  [/\bwhoever\b/i, "the client, the caller, any service that"],
  [/\bwhat there is\b/i, "the noun: the files, the entries"],
  [/\bnot used rightly\b/i, "invalid usage"],
  [/\bof which (?:the|it|there)\b.*\b(?:told|tells)\b/i, "a relative clause with an active verb"],
  [/\bnobody is (?:asked|spared|waited)\b/i, "an active verb"],
  [/\bcomes to (?:be|nothing)\b/i, "results in, becomes"],
  [/\bby which it was (?:taken|begun)\b/i, "an active verb"],
  [/\bunder way\b/i, "in progress"],
  [/\blaid in\b/i, "staged"],
  [/\bwaits? for somebody\b/i, "waits for a person, a client, another service"],
];

interface Finding {
  readonly line: string;
  readonly instead: string;
}

function findingsIn(name: string, text: string): readonly Finding[] {
  const rules = /\.(?:ts|mjs)$/.test(name) ? [...identifiers, ...phrases] : phrases;
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(([pattern, instead]) => {
      const [found] = pattern.exec(line) ?? [];
      return found === undefined ? [] : [{ line: `${name}:${index + 1}: ${found}`, instead }];
    }),
  );
}

function texts(): readonly string[] {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  return tracked.split("\0").filter((file) => {
    if (!/\.(?:ts|mjs|proto|md|yaml|py|go|java|rs|sh)$/.test(file)) return false;
    if (/(?:^|\/)(?:gen|traces|histories|fixtures|\.deps)\//.test(file)) return false;
    return file !== "test/unit/plain-english.test.ts";
  });
}

describe("plain English", () => {
  test("no text uses a rejected word", () => {
    const found = texts().flatMap((file) =>
      findingsIn(file, readFileSync(join(root, file), "utf8")),
    );
    expect(found.map(({ line, instead }) => `${line} → ${instead}`)).toEqual([]);
  });

  test.each([
    ["a.ts", "const mostCalls = 5;"],
    ["a.ts", "class Mates {}"],
    ["a.md", "One that is gone is no mistake."],
    ["a.proto", "// Whoever reads it is told of the end."],
  ])("in %s, `%s` is found", (name, text) => {
    expect(findingsIn(name, text).length).toBeGreaterThan(0);
  });
});
