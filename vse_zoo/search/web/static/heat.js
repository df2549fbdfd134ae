// Weights of a grid of regions as light over a picture: what counts stays bright, the rest goes dark.

const FINE = 24; // pixels of the map for each region
const TINT = [255, 176, 40];

export class Heat {
  constructor(canvas) {
    this.canvas = canvas;
  }

  clear() {
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  draw(weights, [rows, columns]) {
    const cells = new ImageData(columns, rows), most = Math.max(...weights) || 1;
    weights.forEach((weight, cell) => {
      const level = (weight / most) ** 1.5;
      const light = Math.max(0, level - .35) / .65;
      cells.data.set([...TINT.map((value) => value * light), 255 * (.82 * (1 - level) + .2 * light)], 4 * cell);
    });
    const small = document.createElement("canvas");
    [small.width, small.height] = [columns, rows];
    small.getContext("2d").putImageData(cells, 0, 0);
    [this.canvas.width, this.canvas.height] = [columns * FINE, rows * FINE];
    const context = this.canvas.getContext("2d");
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    context.drawImage(small, 0, 0, this.canvas.width, this.canvas.height);
  }
}
