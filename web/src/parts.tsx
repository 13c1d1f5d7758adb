// What tables share: the heads of their columns, and the button that opens a row.

import type { ComponentChildren } from "preact";

/** A column's head: its name, or its name and what else is known of it. */
export type ColumnHead =
  | string
  | { name: ComponentChildren; title?: string /** Text is aligned to the left. */; isText?: boolean; also?: string };

export const ColumnHeads = ({ of }: { of: ColumnHead[] }) => (
  <>
    {of.map((head, at) => {
      const { name, title, isText, also } = typeof head === "string" ? { name: head } : head;
      const classes = [isText && "text", also].filter(Boolean).join(" ");
      return (
        <th key={at} scope="col" {...(classes ? { class: classes } : {})} {...(title ? { title } : {})}>
          {name}
        </th>
      );
    })}
  </>
);

interface RowButtonProps {
  label: string;
  open: () => void;
  isPressed?: boolean;
  isDisabled?: boolean;
  children: ComponentChildren;
}

/** Opens a row by keyboard; a click anywhere in the row does the same. */
export function RowButton({ label, open, isPressed, isDisabled, children }: RowButtonProps) {
  return (
    <button
      type="button"
      class="open"
      disabled={isDisabled ?? false}
      aria-label={label}
      {...(isPressed === undefined ? {} : { "aria-pressed": isPressed })}
      onClick={(event) => {
        event.stopPropagation();
        open();
      }}
    >
      {children}
    </button>
  );
}
