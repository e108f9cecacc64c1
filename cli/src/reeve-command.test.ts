import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { asTyped, reeveCommand } from "./reeve-command.ts";

test.each([
  ["the default server, from npm", {}, { npm_command: "exec" }, "npx @reeve/cli"],
  ["the default server, from an installed program", {}, {}, "reeve"],
  ["the default data folder", { dataDir: join(process.cwd(), ".reeve") }, {}, "reeve"],
  ["another server", { url: "http://127.0.0.1:5000" }, {}, "reeve --url http://127.0.0.1:5000"],
  ["a folder elsewhere", { dataDir: "/tmp/its data" }, {}, "reeve --data-dir '/tmp/its data'"],
  ["a folder inside this one", { dataDir: join(process.cwd(), "x") }, {}, "reeve --data-dir x"],
])("hints name %s", (_, options, environment, command) => {
  expect(reeveCommand(options, environment)).toBe(command);
});

test("errors name the program as the user runs it", () => {
  const text =
    "no Reeve server; start `reeve up`, or sign in: reeve login --help; `reeve-cli` stays";
  expect(asTyped(text, "reeve")).toBe(text);
  expect(asTyped(text, "npx @reeve/cli --data-dir d")).toBe(
    "no Reeve server; start `npx @reeve/cli --data-dir d up`, or sign in: npx @reeve/cli --data-dir d login --help; `reeve-cli` stays",
  );
});
