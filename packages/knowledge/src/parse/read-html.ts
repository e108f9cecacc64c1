import { Parser } from "htmlparser2";
import type { Page } from "./page.ts";
import { TooLarge } from "./page.ts";
import { decodeText } from "./read-text.ts";

/** Elements whose content nobody reads. */
const hidden = new Set(["script", "style", "template", "svg"]);
/** The parser looks through all open elements for each end tag. Browsers have a limit of 512. */
const maxDepth = 500;
/** Elements that do not start a new line. */
const inline = new Set(
  "a abbr b bdi bdo cite code data dfn em font i kbd label mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);

/** Elements that have no content, and so no end. */
const voids = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);

/** Whether the attributes of an element hide it, also before any style sheet is read. */
function isHidden({ hidden: flag, style = "" }: Readonly<Record<string, string>>): boolean {
  return flag !== undefined || /(display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

/** Returns the visible text of an HTML document, one line for each block. Its lines are not those of the source. */
export function readHtml(bytes: Uint8Array): readonly Page[] {
  const lines: string[] = [];
  let line = "";
  let hiddenDepth = 0;
  let preDepth = 0;
  let depth = 0;
  const endLine = () => {
    if (line.trim() !== "") lines.push(preDepth > 0 ? line.trimEnd() : line.trim());
    line = "";
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > maxDepth) throw new TooLarge("depth");
        if (!voids.has(name)) {
          if (hiddenDepth > 0 || hidden.has(name) || isHidden(attributes)) hiddenDepth += 1;
        }
        if (name === "pre") preDepth += 1;
        if (name === "td" || name === "th") line += " ";
        else if (!inline.has(name)) endLine();
        // A heading starts a passage, as in Markdown.
        if (/^h[1-6]$/.test(name)) line = `${"#".repeat(Number(name[1]))} `;
      },
      ontext(text) {
        if (hiddenDepth > 0) return;
        if (preDepth === 0) {
          line += text.replaceAll(/\s+/g, " ");
          return;
        }
        const [first = "", ...more] = text.split("\n");
        line += first;
        for (const each of more) {
          endLine();
          line = each;
        }
      },
      onclosetag(name) {
        depth -= 1;
        if (!voids.has(name)) hiddenDepth = Math.max(0, hiddenDepth - 1);
        if (!inline.has(name) && name !== "td" && name !== "th") endLine();
        if (name === "pre") preDepth = Math.max(0, preDepth - 1);
      },
    },
    { decodeEntities: true },
  );
  parser.end(decodeText(bytes));
  endLine();
  return [{ page: 0, lines }];
}
