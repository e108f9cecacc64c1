import type { Store } from "@reeve/contracts/operations";
import { formatBytes, formatCount } from "../../format/amounts.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { PlainTable } from "./plain-table.tsx";

/** How much is stored, and what takes the most room. */
export function StoreView({ store }: { readonly store: Store }) {
  const { bytes, maxBytes, reserveInUse, streams } = store;
  return (
    <>
      {reserveInUse && (
        <p className="note bad">
          The store is full, and its reserve is in use: nothing new is accepted. Delete runs, or
          give it more room.
        </p>
      )}
      <p>
        {formatBytes(Number(bytes))}
        {maxBytes > 0n ? ` of ${formatBytes(Number(maxBytes))}` : " without a limit of the account"}
        {maxBytes > 0n && (
          <meter
            aria-label="Used of the store"
            min={0}
            max={Number(maxBytes)}
            value={Number(bytes)}
          />
        )}
      </p>
      <Disclosure summary={<span className="muted">The largest streams</span>}>
        <PlainTable label="Streams" columns={["Stream", "#Size", "#Messages"]}>
          {streams.map(({ name, bytes: size, messages }) => (
            <tr key={name}>
              <td className="mono">{name}</td>
              <td className="number">{formatBytes(Number(size))}</td>
              <td className="number">{formatCount(Number(messages))}</td>
            </tr>
          ))}
        </PlainTable>
      </Disclosure>
    </>
  );
}
