import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { plainRoutes } from "@reeve/gateway/rpc/plain-routes";
import { openapiDocument } from "./openapi/openapi-document.ts";
import { contractsWithComments } from "./schemas/contracts-with-comments.ts";

const path = "services/gateway/src/rpc/openapi.json";

/** Writes the OpenAPI document of the addresses without a protocol. With `isCheck`, only compares it with the file. */
export function writeOpenapi({ isCheck }: { readonly isCheck: boolean }): void {
  const document = `${JSON.stringify(openapiDocument(plainRoutes, contractsWithComments()), undefined, 2)}\n`;
  if (!isCheck) writeFileSync(path, document);
  else if (readFileSync(path, "utf8") !== document) {
    console.error(`${path} is out of date with the contracts; run: npm run gen`);
    process.exitCode = 1;
  }
}
