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
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette;
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
