import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CsvShape } from "../csv-check.ts";
import { checkCsv } from "../csv-check.ts";

const maxBytes = 50 * 1_048_576;

/** Makes sure that a file can be summarized. Throws a Failure that says in a sentence why not. */
export async function checkDemoFile(path: string): Promise<CsvShape> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw refused(`${path} does not exist`);
  if (!found.isFile()) throw refused(`${path} is not a file`);
  if (found.size > maxBytes) throw refused(`${path} is larger than 50 MB`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw refused(`${path} cannot be read`, cause);
  });
  const shape = checkCsv(bytes);
  if ("problem" in shape) throw refused(`${path} is not a CSV file: ${shape.problem}`);
  return shape;
}

/** Makes sure that a report can be written to `path`, before anything starts. */
export async function checkReportPath(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw refused(`the folder ${folder} does not exist`);
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (isFolder) throw refused(`${path} is a folder; name a file`);
  await access(folder, constants.W_OK).catch((cause: unknown) => {
    throw refused(`${folder} cannot be written to`, cause);
  });
}

function refused(message: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
