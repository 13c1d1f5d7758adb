// What a picture is drawn with: a canvas, or SVG of the same.

export type Anchor = "start" | "middle" | "end";

export interface Stroke {
  color: string;
  width?: number;
  dash?: number[];
  alpha?: number;
}

export interface Painter {
  rect(x: number, y: number, width: number, height: number, color: string, alpha?: number): void;
  /** Separate lines: four numbers each. */
  lines(ends: number[], stroke: Stroke): void;
  /** One connected line: two numbers a point; NaN breaks it. */
  path(points: number[], stroke: Stroke): void;
  dots(points: number[], radius: number, color: string): void;
  diamond(x: number, y: number, radius: number, color: string): void;
  /** Slanted lines over an area: what is not known. */
  hatch(x: number, y: number, width: number, height: number, color: string): void;
  text(x: number, y: number, text: string, color: string, anchor?: Anchor, bold?: boolean): void;
  /** Draws within an area only. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = 11;
const FAMILY = 'system-ui, "Segoe UI", "Noto Sans", sans-serif';
const HATCH = 7;

const [PLAIN, BOLD] = [`${FONT}px ${FAMILY}`, `600 ${FONT}px ${FAMILY}`];
export const FONT_OF = (bold: boolean) => (bold ? BOLD : PLAIN);
let meter: CanvasRenderingContext2D | null = null;

/** How wide a text is, in either kind of picture. */
export function textWidth(text: string, bold = false): number {
  meter ??= document.createElement("canvas").getContext("2d");
  if (!meter) return text.length * 6;
  meter.font = FONT_OF(bold);
  return meter.measureText(text).width;
}

export class CanvasPainter implements Painter {
  private font = "";

  constructor(private readonly to: CanvasRenderingContext2D) {
    to.lineJoin = "bevel";
  }

  rect(x: number, y: number, width: number, height: number, color: string, alpha = 1): void {
    this.to.globalAlpha = alpha;
    this.to.fillStyle = color;
    this.to.fillRect(x, y, width, height);
    this.to.globalAlpha = 1;
  }

  lines(ends: number[], stroke: Stroke): void {
    if (!stroke.dash && this.upright(ends, stroke)) return;
    this.stroke(stroke, () => {
      for (let at = 0; at + 3 < ends.length; at += 4) {
        this.to.moveTo(ends[at]!, ends[at + 1]!);
        this.to.lineTo(ends[at + 2]!, ends[at + 3]!);
      }
    });
  }

  /** Lines that are all upright or level are rectangles: a fraction of what strokes cost. */
  private upright(ends: number[], { color, width = 1, alpha = 1 }: Stroke): boolean {
    for (let at = 0; at + 3 < ends.length; at += 4)
      if (ends[at] !== ends[at + 2] && ends[at + 1] !== ends[at + 3]) return false;
    this.to.globalAlpha = alpha;
    this.to.fillStyle = color;
    for (let at = 0; at + 3 < ends.length; at += 4) {
      const [x, y, across, down] = [ends[at]!, ends[at + 1]!, ends[at + 2]! - ends[at]!, ends[at + 3]! - ends[at + 1]!];
      if (across === 0) this.to.fillRect(x - width / 2, y, width, down);
      else this.to.fillRect(x, y - width / 2, across, width);
    }
    this.to.globalAlpha = 1;
    return true;
  }

  path(points: number[], stroke: Stroke): void {
    this.stroke(stroke, () => {
      let pen = false;
      for (let at = 0; at + 1 < points.length; at += 2) {
        const [x, y] = [points[at]!, points[at + 1]!];
        if (Number.isNaN(y)) pen = false;
        else if (pen) this.to.lineTo(x, y);
        else {
          this.to.moveTo(x, y);
          pen = true;
        }
      }
    });
  }

  private stroke({ color, width = 1, dash = [], alpha = 1 }: Stroke, draw: () => void): void {
    this.to.globalAlpha = alpha;
    this.to.strokeStyle = color;
    this.to.lineWidth = width;
    this.to.setLineDash(dash);
    this.to.beginPath();
    draw();
    this.to.stroke();
    this.to.setLineDash([]);
    this.to.globalAlpha = 1;
  }

  dots(points: number[], radius: number, color: string): void {
    this.to.fillStyle = color;
    for (let at = 0; at + 1 < points.length; at += 2) {
      this.to.fillRect(points[at]! - radius, points[at + 1]! - radius, 2 * radius, 2 * radius);
    }
  }

  diamond(x: number, y: number, radius: number, color: string): void {
    this.to.fillStyle = color;
    this.to.beginPath();
    this.to.moveTo(x, y - radius);
    this.to.lineTo(x + radius, y);
    this.to.lineTo(x, y + radius);
    this.to.lineTo(x - radius, y);
    this.to.fill();
  }

  hatch(x: number, y: number, width: number, height: number, color: string): void {
    this.within(x, y, width, height, () => this.lines(slants(x, y, width, height), { color, alpha: 0.5 }));
  }

  text(x: number, y: number, text: string, color: string, anchor: Anchor = "start", bold = false): void {
    this.to.fillStyle = color;
    if (this.font !== FONT_OF(bold)) this.to.font = this.font = FONT_OF(bold);
    this.to.textAlign = anchor === "middle" ? "center" : anchor;
    this.to.fillText(text, x, y);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.to.save();
    this.to.beginPath();
    this.to.rect(x, y, width, height);
    this.to.clip();
    draw();
    this.to.restore();
    this.font = "";
  }
}

const number = (value: number): string => (Math.round(value * 100) / 100).toString();
const escaped = (text: string): string =>
  text.replace(
    /[&<>"]/g,
    (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[character] ?? character,
  );

export class SvgPainter implements Painter {
  private readonly parts: string[] = [];
  private clips = 0;

  rect(x: number, y: number, width: number, height: number, color: string, alpha = 1): void {
    if (width <= 0 || height <= 0) return;
    this.parts.push(
      `<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}" fill="${color}"${alpha < 1 ? ` fill-opacity="${alpha}"` : ""}/>`,
    );
  }

  lines(ends: number[], stroke: Stroke): void {
    let path = "";
    for (let at = 0; at + 3 < ends.length; at += 4) {
      path += `M${number(ends[at]!)} ${number(ends[at + 1]!)}L${number(ends[at + 2]!)} ${number(ends[at + 3]!)}`;
    }
    this.stroke(path, stroke);
  }

  path(points: number[], stroke: Stroke): void {
    let path = "";
    let pen = false;
    for (let at = 0; at + 1 < points.length; at += 2) {
      const [x, y] = [points[at]!, points[at + 1]!];
      if (Number.isNaN(y)) pen = false;
      else {
        path += `${pen ? "L" : "M"}${number(x)} ${number(y)}`;
        pen = true;
      }
    }
    this.stroke(path, stroke);
  }

  private stroke(path: string, { color, width = 1, dash = [], alpha = 1 }: Stroke): void {
    if (path === "") return;
    this.parts.push(
      `<path d="${path}" fill="none" stroke="${color}" stroke-width="${width}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}${alpha < 1 ? ` stroke-opacity="${alpha}"` : ""}/>`,
    );
  }

  dots(points: number[], radius: number, color: string): void {
    let path = "";
    const side = number(2 * radius);
    for (let at = 0; at + 1 < points.length; at += 2) {
      path += `M${number(points[at]! - radius)} ${number(points[at + 1]! - radius)}h${side}v${side}h-${side}z`;
    }
    if (path !== "") this.parts.push(`<path d="${path}" fill="${color}"/>`);
  }

  diamond(x: number, y: number, radius: number, color: string): void {
    this.parts.push(
      `<path d="M${number(x)} ${number(y - radius)}L${number(x + radius)} ${number(y)}L${number(x)} ${number(y + radius)}L${number(x - radius)} ${number(y)}z" fill="${color}"/>`,
    );
  }

  hatch(x: number, y: number, width: number, height: number, color: string): void {
    this.within(x, y, width, height, () => this.lines(slants(x, y, width, height), { color, alpha: 0.5 }));
  }

  text(x: number, y: number, text: string, color: string, anchor: Anchor = "start", bold = false): void {
    this.parts.push(
      `<text x="${number(x)}" y="${number(y)}" fill="${color}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`}${bold ? ' font-weight="600"' : ""}>${escaped(text)}</text>`,
    );
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `c${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  /** The picture as a file. */
  finish(width: number, height: number, background: string, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family='${FAMILY}' font-size="${FONT}">` +
      `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${background}"/>${this.parts.join("")}</svg>\n`
    );
  }
}

function slants(x: number, y: number, width: number, height: number): number[] {
  const ends: number[] = [];
  for (let at = x - height - ((x - height) % HATCH); at < x + width; at += HATCH)
    ends.push(at, y + height, at + height, y);
  return ends;
}
