import type { BoundContent, BoundFile } from "@reeve/contracts/tool";
import type { Style } from "../../style.ts";
import { oneLine } from "../plain-text.ts";

/** How many files, and how many lines of each, are shown. */
const maxFiles = 20;
const maxLines = 10;

/** Renders the files to which an approval is bound: size, digest, and start of each, and what it was before a change. */
export function renderBoundContent(
  content: BoundContent | undefined,
  style: Style,
  width: number,
): readonly string[] {
  const files = content?.files ?? [];
  // A word of a command that is no file says nothing.
  const shown = files.filter(({ state, previous }) => state !== "absent" || previous !== undefined);
  const more = shown.length - maxFiles;
  return [
    ...shown.slice(0, maxFiles).flatMap((file) => fileLines(file, style, width)),
    ...(more > 0 ? [`      ${style("dim", `and ${more} more files`)}`] : []),
  ];
}

function fileLines(file: BoundFile, style: Style, width: number): readonly string[] {
  const { previous } = file;
  if (previous === undefined) {
    return [`      ${summaryOf(file)}`, ...linesOf(file.preview, " ", width)];
  }
  return [
    `      ${style("yellow", `${summaryOf(file)}, changed since the approval`)}`,
    ...linesOf(previous.preview, "-", width).map((line) => style("red", line)),
    ...linesOf(file.preview, "+", width).map((line) => style("green", line)),
  ];
}

function summaryOf({ path, state, sizeBytes, sha256 }: BoundFile): string {
  const name = oneLine(path, 200);
  return state === "file"
    ? `${name}: ${sizeBytes} bytes, sha256 ${sha256.slice(0, 12)}`
    : `${name}: ${oneLine(state, 20)}`;
}

function linesOf(text: string, sign: string, width: number): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const cut = lines.length > maxLines ? [`        ${sign} …`] : [];
  return [
    ...lines.slice(0, maxLines).map((line) => `        ${sign} ${oneLine(line, width)}`),
    ...cut,
  ];
}
