import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/**
 * Reads what is at the path that a setting gives; undefined without a path. Throws a Failure with the name of the setting
 * when the path cannot be read.
 */
export async function readSetting<Value>(
  setting: string,
  path: string | undefined,
  read: (path: string) => Promise<Value>,
): Promise<Value | undefined> {
  if (path === undefined) return undefined;
  try {
    return await read(path);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const message = `${setting} names ${path}, which cannot be read: ${error.message}`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause: error });
  }
}
