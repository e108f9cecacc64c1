import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import type { ReactNode } from "react";
import { useContext, useMemo, useRef, useState } from "react";
import { OpenedContext } from "../opened.ts";

/** Up to this many items, all are rendered, so that the browser finds their text and nothing moves. */
const maxWhole = 100;
/** The gap of `.items`. */
const gapPx = 12;

interface LongListProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** About how high an item is that has not been in view. */
  readonly estimatePx: number;
  readonly className: string;
  readonly render: (item: Item) => ReactNode;
}

/**
 * A list of items of any height that scrolls with the page. Of a long one, only the items in view are rendered. What a person opened in
 * an item is open again when it comes back; the keys of lists within each other differ.
 */
export function LongList<Item>({
  items,
  keyOf,
  estimatePx,
  className,
  render,
}: LongListProps<Item>) {
  const list = useRef<HTMLOListElement>(null);
  const outer = useContext(OpenedContext)?.store;
  const [own] = useState(() => new Map<string, boolean>());
  const store = outer ?? own;
  const isWhole = items.length <= maxWhole;
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => estimatePx,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    gap: gapPx,
    overscan: 8,
    rangeExtractor: (range) =>
      range.count <= maxWhole
        ? Array.from({ length: range.count }, (_, index) => index)
        : defaultRangeExtractor(range),
    scrollMargin: isWhole ? 0 : topOf(list.current),
  });
  const shown = rows.getVirtualItems();
  const { scrollMargin } = rows.options;
  const before = isWhole ? 0 : (shown[0]?.start ?? scrollMargin) - scrollMargin;
  const end = (shown.at(-1)?.end ?? scrollMargin) - scrollMargin;
  const after = isWhole ? 0 : Math.max(0, rows.getTotalSize() - end);
  return (
    <ol ref={list} className={className} style={{ paddingTop: before, paddingBottom: after }}>
      {shown.map(({ index, key }) => {
        const item = items[index];
        return (
          item !== undefined && (
            <li
              key={key}
              ref={rows.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={items.length}
            >
              <KeptItem store={store} item={keyOf(item)}>
                {render(item)}
              </KeptItem>
            </li>
          )
        );
      })}
    </ol>
  );
}

interface KeptItemProps {
  readonly store: Map<string, boolean>;
  readonly item: string;
  readonly children: ReactNode;
}

function KeptItem({ store, item, children }: KeptItemProps) {
  const opened = useMemo(() => ({ store, item }), [store, item]);
  return <OpenedContext value={opened}>{children}</OpenedContext>;
}

/** Returns where an element begins in the document, however far it is scrolled. */
export function topOf(element: HTMLElement | null): number {
  return element === null ? 0 : element.getBoundingClientRect().top + window.scrollY;
}
