// Staircases that cost no more than their pixels, however many steps they have.

/**
 * A staircase. What falls into one column of pixels is one upright line, from the least to the
 * greatest.
 */
export class Stairs {
  readonly path: number[] = [];
  private column = NaN;
  private low = 0;
  private high = 0;
  private now = NaN;

  add(x: number, y: number): void {
    const column = Math.round(x - 0.5) + 0.5;
    if (column !== this.column) {
      this.flush();
      if (!Number.isNaN(this.now)) this.path.push(column, this.now);
      [this.column, this.low, this.high] = [column, y, y];
    } else {
      this.low = Math.min(this.low, y);
      this.high = Math.max(this.high, y);
    }
    this.now = y;
  }

  private flush(): void {
    if (Number.isNaN(this.column)) return;
    if (this.low < this.high) this.path.push(this.column, this.low, this.column, this.high);
    this.path.push(this.column, this.now);
  }

  /** All of it, the last step as far as `end`. */
  until(end: number): number[] {
    this.flush();
    if (!Number.isNaN(this.now)) this.path.push(Math.max(end, this.column), this.now);
    return this.path;
  }
}
