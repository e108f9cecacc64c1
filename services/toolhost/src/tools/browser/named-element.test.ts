import { expect, test } from "vitest";
import { elementProblem } from "./named-element.ts";

const outline = [
  '- heading "Cart" [level=1] [ref=e1]',
  '- button "Cancel" [ref=e2] [cursor=pointer]',
  `- 'button "Pay: 40 € it''s \\"due\\"" [active] [ref=e3]':`,
  "  - generic [ref=e4]: plain text",
  '- button "fake [ref=e6]" [ref=e5]',
  "- text: no element [ref=e7]",
  '- textbox "Name" [ref=e6]',
].join("\n");
const view = { url: "https://shop.test/cart?step=2", text: outline };
const page = "https://shop.test/cart";

test.each([
  ["e2", "button", "Cancel"],
  ["e3", "button", 'Pay: 40 € it\'s  "due"'],
  ["e4", "generic", "plain text"],
  ["e5", "button", "fake [ref=e6]"],
  ["e6", "textbox", "Name"],
])("finds the element %s as it was read", (element, role, name) => {
  expect(elementProblem(view, { element, role, name, page })).toBeUndefined();
});

test.each([
  ["e2", "button", "Pay", /e2 is button "Cancel" now, and not button "Pay"; nothing was done/],
  ["e2", "link", "Cancel", /e2 is button "Cancel" now, and not link "Cancel"/],
  ["e7", "text", "no element", /no element e7 now/],
  ["e9", "button", "Pay", /no element e9 now/],
])("refuses %s as %s %j", (element, role, name, problem) => {
  expect(elementProblem(view, { element, role, name, page })).toMatch(problem);
});

test.each([page, `${page}?step=2`, `${page}?step=2#total`])("knows the address %s", (shown) => {
  const cancel = { element: "e2", role: "button", name: "Cancel", page: shown };
  expect(elementProblem({ url: `${page}?step=2#total`, text: outline }, cancel)).toBeUndefined();
});

test.each([
  "https://bank.test/cart",
  "http://shop.test/cart",
  "https://shop.test/orders",
  "https://shop.test/cart?step=1",
  "https://bank.test@shop.test/cart",
  "",
])("refuses an element of the page %j, which is not shown", (other) => {
  const cancel = { element: "e2", role: "button", name: "Cancel", page: other };
  expect(elementProblem(view, cancel)).toMatch(
    /^the page is https:\/\/shop\.test\/cart\?step=2 now/,
  );
});
