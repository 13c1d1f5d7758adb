// A table that is sorted by a click on a column's head. Of very many rows those in sight are drawn.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { RowButton } from "./parts";
import { t } from "./texts";

export interface Column<Row> {
  head: string;
  title?: string;
  /** What it is sorted by. */
  key: (row: Row) => number | string;
  cell: (row: Row) => ComponentChildren;
  isText?: boolean;
  /** Beside the head's name. */
  scale?: ComponentChildren;
  /** Left out where there is no room: 1 on phones, 2 on tablets, 3 on small screens. */
  level?: 1 | 2 | 3;
  /** Its width; columns without one share the rest. */
  width?: string;
  /** Its width on phones. */
  phone?: string;
}

/** A check mark in each row. */
export interface Check<Row> {
  title: string;
  isChosen: (row: Row) => boolean;
  can: (row: Row) => boolean;
  toggle: (row: Row) => void;
}

interface Props<Row> {
  rows: Row[];
  columns: Column<Row>[];
  /** The column that it is sorted by at first, largest first; null: the order of the rows. */
  first: number | null;
  open: (row: Row) => void;
  label: string;
  /** What opening a row is called. */
  name: (row: Row) => string;
  check?: Check<Row>;
  /** A class that sets a row apart. */
  mark?: (row: Row) => string;
  /** What is said where there is no row. */
  nothing?: string;
}

/** With more rows than this those in sight are drawn, and some beyond. */
const FEW = 120;
const BEYOND = 12;
/** Pixels; `style/table.css` has the same. */
const HEIGHT = 27;

interface Order {
  column: number | null;
  up: boolean;
}

function useSorted<Row>(rows: Row[], columns: Column<Row>[], { column, up }: Order): Row[] {
  return useMemo(() => {
    if (column === null) return rows;
    const key = columns[column]?.key ?? (() => 0);
    const way = up ? 1 : -1;
    const compare = (a: number | string, b: number | string) => (a < b ? -way : a > b ? way : 0);
    return rows
      .map((row) => ({ row, by: key(row) }))
      .sort((a, b) => compare(a.by, b.by))
      .map(({ row }) => row);
  }, [rows, column, up, columns]);
}

/**
 * What is seen stays in its place while rows come and go above it; at the top the first ones are
 * seen.
 */
function useAnchor<Row>(box: { readonly current: HTMLDivElement | null }, rows: Row[], name: (row: Row) => string) {
  const before = useRef<{ rows: Row[]; names: string[] } | null>(null);
  useLayoutEffect(() => {
    const { current } = box;
    const old = before.current;
    if (old?.rows === rows) return;
    before.current = { rows, names: rows.map(name) };
    if (!current || !old || current.scrollTop < HEIGHT) return;
    const at = Math.floor(current.scrollTop / HEIGHT);
    const places = new Map(before.current.names.map((one, place) => [one, place]));
    // The first of those in sight that is still there.
    for (let place = at; place < old.names.length; place += 1) {
      const now = places.get(old.names[place]!);
      if (now === undefined) continue;
      current.scrollTop += (now - place) * HEIGHT;
      return;
    }
  });
}

/** Which rows are drawn: from, and up to. */
function useSight(count: number) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [tall, setTall] = useState(40);
  const scroll = () => {
    const at = Math.floor((box.current?.scrollTop ?? 0) / HEIGHT);
    // Not with every row: the drawn rows reach beyond the visible ones.
    setTop(at - (at % (BEYOND / 2)));
  };
  const isAll = count <= FEW;
  useEffect(() => {
    // What is drawn whole is not drawn again for this.
    if (isAll) return;
    setTall(Math.ceil((box.current?.clientHeight ?? 0) / HEIGHT) + 1);
    scroll();
  }, [count, isAll]);
  const from = isAll ? 0 : Math.max(0, Math.min(top, count - tall) - BEYOND);
  const to = isAll ? count : Math.min(count, from + tall + 3 * BEYOND);
  return { box, scroll, from, to };
}

export function Table<Row>(props: Props<Row>) {
  const { rows, columns, first, label } = props;
  const [order, setOrder] = useState<Order>({ column: first, up: false });
  const sorted = useSorted(rows, columns, order);
  const { box, scroll, from, to } = useSight(sorted.length);
  useAnchor(box, sorted, props.name);
  const room = (count: number) =>
    count > 0 && (
      <tr class="room">
        <td style={{ height: `${count * HEIGHT}px` }} />
      </tr>
    );
  const levels = columns.map((column) => (column.level ? ` level${column.level}` : ""));
  return (
    <>
      <div ref={box} class="scroll list" tabIndex={0} role="region" aria-label={label} onScroll={scroll}>
        <table class="rows" aria-rowcount={sorted.length + 1}>
          <colgroup>
            {columns.map((column, at) => (
              <col key={column.head} class={levels[at]?.trim() ?? ""} style={widths(column)} />
            ))}
          </colgroup>
          <Head columns={columns} levels={levels} order={order} setOrder={setOrder} />
          <tbody>
            {room(from)}
            {sorted.slice(from, to).map((row, at) => (
              <Line key={props.name(row)} row={row} place={from + at + 2} levels={levels} {...props} />
            ))}
            {room(sorted.length - to)}
          </tbody>
        </table>
      </div>
      {sorted.length === 0 && <p class="dim">{props.nothing ?? t`Nothing matches the filter.`}</p>}
    </>
  );
}

/** As properties, because a phone has other ones (table.css). */
const widths = <Row,>({ width, phone }: Column<Row>) => ({
  ...(width && { "--width": width }),
  ...(phone && { "--phone": phone }),
});

function Head<Row>({
  columns,
  levels,
  order,
  setOrder,
}: {
  columns: Column<Row>[];
  levels: string[];
  order: Order;
  setOrder: (change: (old: Order) => Order) => void;
}) {
  const sort = (column: number) =>
    setOrder((old) =>
      old.column === column ? { column, up: !old.up } : { column, up: columns[column]?.isText ?? false },
    );
  return (
    <thead>
      <tr>
        {columns.map((column, index) => {
          const way = order.column === index ? (order.up ? "ascending" : "descending") : undefined;
          return (
            <th
              key={column.head}
              scope="col"
              class={`${column.isText ? "text" : ""}${levels[index]}`}
              {...(way ? { "aria-sort": way } : {})}
            >
              <button type="button" title={column.title} onClick={() => sort(index)}>
                {column.head}
                <i aria-hidden="true">{way ? (order.up ? "▲" : "▼") : ""}</i>
              </button>
              {column.scale}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Line<Row>({
  row,
  place,
  columns,
  levels,
  open,
  name,
  check,
  mark,
}: Props<Row> & { row: Row; place: number; levels: string[] }) {
  return (
    <tr class={check?.isChosen(row) ? "chosen" : (mark?.(row) ?? "")} aria-rowindex={place} onClick={() => open(row)}>
      {columns.map((column, index) => (
        <td key={column.head} class={`${column.isText ? "text" : ""}${levels[index]}`}>
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
            <RowButton label={name(row)} open={() => open(row)}>
              {column.cell(row)}
            </RowButton>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}
