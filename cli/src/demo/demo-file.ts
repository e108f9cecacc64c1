import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CsvShape } from "./check-csv.ts";
import { checkCsv } from "./check-csv.ts";

const maxBytes = 50 * 1_048_576;

/** Checks that the demo can summarize a file. Throws a Failure that says why not. */
export async function checkDemoFile(path: string): Promise<CsvShape> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw invalid(`${path} does not exist`);
  if (!found.isFile()) throw invalid(`${path} is not a file`);
  if (found.size > maxBytes) throw invalid(`${path} is larger than 50 MiB`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw invalid(`${path} cannot be read`, cause);
  });
  const shape = checkCsv(bytes);
  if ("problem" in shape) throw invalid(`${path} is not a CSV file: ${shape.problem}`);
  return shape;
}

/** Checks that a report can be written to `path`, before the demo starts. */
export async function checkReportPath(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw invalid(`folder ${folder} does not exist`);
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (isFolder) throw invalid(`${path} is a folder; use the path of a file`);
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw invalid(`folder ${folder} is not writable`, cause);
  });
}

function invalid(message: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
