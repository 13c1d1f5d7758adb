// A table that is sorted by a click on a column's head.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { thousands } from "./format";

export interface Column<Row> {
  head: string;
  title?: string;
  /** What it is sorted by. */
  key: (row: Row) => number | string;
  cell: (row: Row) => ComponentChildren;
  isText?: boolean;
}

/** Most rows drawn; the filter reaches the others. */
const MOST = 500;

export function Table<Row>({
  rows,
  columns,
  first,
  open,
  label,
  name,
  check,
}: {
  rows: Row[];
  columns: Column<Row>[];
  /** The column that it is sorted by at first, largest first. */
  first: number;
  open: (row: Row) => void;
  label: string;
  /** What opening a row is called. */
  name: (row: Row) => string;
  /** A check mark in each row. */
  check?: { title: string; isChosen: (row: Row) => boolean; can: (row: Row) => boolean; toggle: (row: Row) => void };
}) {
  const [order, setOrder] = useState<{ column: number; up: boolean }>({ column: first, up: false });
  const sorted = useMemo(() => {
    const key = columns[order.column]?.key ?? (() => 0);
    const way = order.up ? 1 : -1;
    const compare = (a: number | string, b: number | string) => (a < b ? -way : a > b ? way : 0);
    return rows
      .map((row) => ({ row, by: key(row) }))
      .sort((a, b) => compare(a.by, b.by))
      .map(({ row }) => row);
  }, [rows, order, columns]);
  const sort = (column: number) =>
    setOrder((old) =>
      old.column === column ? { column, up: !old.up } : { column, up: columns[column]?.isText ?? false },
    );
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table class="rows">
          <thead>
            <tr>
              {columns.map((column, index) => {
                const way = order.column === index ? (order.up ? "ascending" : "descending") : undefined;
                return (
                  <th
                    key={column.head}
                    scope="col"
                    class={column.isText ? "text" : ""}
                    {...(way ? { "aria-sort": way } : {})}
                  >
                    <button type="button" title={column.title} onClick={() => sort(index)}>
                      {column.head}
                      <i aria-hidden="true">{way ? (order.up ? "▲" : "▼") : ""}</i>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, MOST).map((row) => (
              <tr key={name(row)} class={check?.isChosen(row) ? "chosen" : ""} onClick={() => open(row)}>
                {columns.map((column, index) => (
                  <td key={column.head} class={column.isText ? "text" : ""}>
                    {index === 0 && check?.can(row) && (
                      <input
                        type="checkbox"
                        class="check"
                        checked={check.isChosen(row)}
                        title={check.title}
                        aria-label={`${check.title}: ${name(row)}`}
                        onClick={(event) => event.stopPropagation()}
                        onChange={() => check.toggle(row)}
                      />
                    )}
                    {index === 0 ? (
                      <button
                        type="button"
                        class="open"
                        aria-label={name(row)}
                        onClick={(event) => {
                          event.stopPropagation();
                          open(row);
                        }}
                      >
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > MOST && (
        <p class="dim">
          {thousands(MOST)} of {thousands(sorted.length)} rows: filter or sort to see the others.
        </p>
      )}
      {sorted.length === 0 && <p class="dim">Nothing matches the filter.</p>}
    </>
  );
}
