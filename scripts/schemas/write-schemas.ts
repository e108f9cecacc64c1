import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { contractsWithComments } from "./contracts-with-comments.ts";
import { schemaFiles } from "./schema-files.ts";

const folder = "docs/schemas";

/** Writes the JSON Schemas of the files that people write. With `isCheck`, only compares them with the files. */
export function writeSchemas({ isCheck }: { readonly isCheck: boolean }): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of Object.entries(schemaFiles(contractsWithComments()))) {
    const path = join(folder, `${name}.schema.json`);
    const text = `${JSON.stringify(schema, undefined, 2)}\n`;
    if (!isCheck) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
      console.error(`${path} is out of date; run: npm run gen`);
      process.exitCode = 1;
    }
  }
}
