import { Code } from "@connectrpc/connect";

/** Returns the name of a status as gRPC writes it: `NOT_FOUND`. */
export function codeName(code: Code): string {
  const name = code === Code.Canceled ? "Cancelled" : Code[code];
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
