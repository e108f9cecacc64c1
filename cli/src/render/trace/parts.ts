import type { ContentPart } from "@reeve/contracts/content/parts";
import { oneLine } from "../plain-text.ts";
import type { Style } from "../../style.ts";

/** Returns a line for each part of a message after its text. */
export function renderParts(
  parts: readonly ContentPart[],
  style: Style,
  width: number,
): readonly string[] {
  return parts.flatMap(({ part }) => {
    if (part.case === undefined) return [];
    const text = part.case === "text" ? part.value : describeFile(part.value);
    return [`    ${style("cyan", "+")} ${oneLine(text, width)}`];
  });
}

function describeFile({
  name,
  mediaType,
  width,
  height,
  artifactId,
}: Extract<ContentPart["part"], { case: "file" }>["value"]): string {
  const size = width === 0 ? "" : `, ${width} × ${height}`;
  return `${name} (${mediaType}${size}, ${artifactId})`;
}
