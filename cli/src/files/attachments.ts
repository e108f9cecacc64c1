import { basename, extname } from "node:path";
import type { Client } from "@reeve/client";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-code.ts";
import { readLocalFile } from "./local-file.ts";

const mediaTypes: ReadonlyMap<string, string> = new Map([
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".wav", "audio/wav"],
  [".mp3", "audio/mpeg"],
  [".pdf", "application/pdf"],
]);

/** Returns the media type of a file that models read, by its name. Throws a UsageError if it is none. */
export function mediaTypeOf(path: string): string {
  const known = mediaTypes.get(extname(path).toLowerCase());
  if (known !== undefined) return known;
  const list = [...mediaTypes.keys()].join(", ");
  throw new UsageError(`${path} is no file that models read (${list}); use --file for others`);
}

/** Uploads files, and returns them as parts of a message. */
export async function uploadAttachments(
  reeve: Pick<Client, "upload">,
  paths: readonly string[],
  context: Pick<Context, "signal">,
) {
  const typed = paths.map((path) => ({ path, mediaType: mediaTypeOf(path) }));
  const parts = [];
  for (const { path, mediaType } of typed) {
    const content = await readLocalFile(path);
    const { artifactId } = await reeve.upload(
      { name: basename(path), mediaType, content },
      context,
    );
    parts.push({ part: { case: "file", value: { artifactId } } as const });
  }
  return parts;
}

/** Collects the values of an option that may be repeated. */
export function collectPaths(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, path];
}
