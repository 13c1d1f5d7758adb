// The page's colours, as they are now.

import { GROUPS } from "../limits";

/** Those that pictures are drawn with, by their names in `style/colors.css`. */
const COLORS = [
  ...GROUPS,
  "paper",
  "sheet",
  "ink",
  "dim",
  "line",
  "grid",
  "data",
  "ackline",
  "edge",
  "onfill",
  "cursor",
] as const;

/** As strings, so that a picture can be saved with them. */
export type Palette = Record<(typeof COLORS)[number], string>;

export function palette(): Palette {
  // A colour is a pair, of which an element has the one that holds.
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);
  const found = COLORS.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found) as Palette;
}

/** Colours for paper, whatever the screen has. */
export function palettePrinted(): Palette {
  const { dataset } = document.documentElement;
  const theme = dataset.theme;
  dataset.theme = "light";
  const found = palette();
  if (theme === undefined) delete dataset.theme;
  else dataset.theme = theme;
  return found;
}
