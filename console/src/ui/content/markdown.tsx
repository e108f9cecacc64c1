import DOMPurify from "dompurify";
import { Marked } from "marked";
import { memo, useMemo } from "react";

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // An image would be fetched from a server that the model names, which could carry data out.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
});

const sanitized = {
  ALLOWED_TAGS:
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul".split(
      " ",
    ),
  ALLOWED_ATTR: ["href", "title", "align", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/**
 * Text of models and people as Markdown. What could execute, load, or navigate is removed. Blocks that are complete are rendered
 * once, so that text which streams in stays cheap.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => marked.lexer(text).map(({ raw }) => raw), [text]);
  return (
    <div className="markdown">
      {blocks.map((raw, index) => (
        // Blocks are only added at the end.
        <Block key={index} raw={raw} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ raw }: { readonly raw: string }) {
  const html = useMemo(
    () => DOMPurify.sanitize(marked.parse(raw, { async: false }), sanitized),
    [raw],
  );
  return html === "" ? null : <div dangerouslySetInnerHTML={{ __html: html }} />;
});

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
