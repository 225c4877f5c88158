/** The page: programs, the vocabulary, the page's vectors and the desk's digests lie beside it (make web). */
import { compile, load } from "./pteron.js";
import { Tokens } from "./tokens.js";

const SIDE = 8, TOP = 3;
const $ = (id) => document.getElementById(id);
const get = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
};
const bytes = async (name) => (await get(name)).arrayBuffer();
const text = async (name) => (await get(name)).text();

/** As the desk has it: the first 16 digits of SHA-256 over the output's bytes. */
async function digest(output) {
  const hash = await crypto.subtle.digest("SHA-256", output.data);
  return [...new Uint8Array(hash)].map((b) => b.toString(16).padStart(2, "0")).join("").slice(0, 16);
}

function row(into, ...cells) {
  const tr = into.insertRow();
  for (const cell of cells) tr.insertCell().textContent = cell;
}

async function show(name, started, output, desk) {
  const here = await digest(output), there = desk.get(name)[0];
  row($("ran"), name, `${(performance.now() - started).toFixed(0)} ms`, here, there + (here === there ? ", equal" : ", other"));
  return here === there;
}

// --- digits ---------------------------------------------------------------------------------------

/** The drawing as 8 x 8 numbers from 0 to 1: the mean of each square. */
function pixels(board) {
  const size = board.width / SIDE, { data } = board.getContext("2d").getImageData(0, 0, board.width, board.height);
  const out = new Float32Array(SIDE * SIDE);
  for (let y = 0; y < board.height; y++)
    for (let x = 0; x < board.width; x++)
      out[Math.floor(y / size) * SIDE + Math.floor(x / size)] += data[4 * (y * board.width + x)] / 255 / size / size;
  return out;
}

function classify(model, image) {
  const { logits } = model.run({ image: { data: image, shape: [1, 1, SIDE, SIDE] } });
  $("digit").textContent = logits.data.indexOf(Math.max(...logits.data));
  return logits;
}

function drawing(model) {
  const board = $("board"), pen = board.getContext("2d", { willReadFrequently: true });
  const clear = () => { pen.fillRect(0, 0, board.width, board.height); $("digit").textContent = "?"; };
  Object.assign(pen, { lineWidth: 24, lineCap: "round", lineJoin: "round", strokeStyle: "#fff", fillStyle: "#000" });
  clear();
  let last = null;
  const at = (event) => [event.offsetX, event.offsetY];
  board.onpointerdown = (event) => { last = at(event); board.setPointerCapture(event.pointerId); };
  board.onpointerup = () => (last = null);
  board.onpointermove = (event) => {
    if (last === null) return;
    pen.beginPath();
    pen.moveTo(...last);
    pen.lineTo(...(last = at(event)));
    pen.stroke();
    classify(model, pixels(board));
  };
  $("clear").onclick = clear;
  return (image) => { /* a given one, as if it had been drawn */
    const size = board.width / SIDE;
    image.forEach((v, i) => {
      pen.fillStyle = `rgb(${v * 255} ${v * 255} ${v * 255})`;
      pen.fillRect((i % SIDE) * size, Math.floor(i / SIDE) * size, size, size);
    });
    pen.fillStyle = "#000";
  };
}

// --- search ---------------------------------------------------------------------------------------

function embed(model, tokens, question) {
  const ids = BigInt64Array.from(tokens.of(question), BigInt), shape = [1, ids.length];
  const mask = BigInt64Array.from(ids, () => 1n);
  const [first, second] = model.inputs.map((port) => port.name);
  return Object.values(model.run({ [first]: { data: ids, shape }, [second]: { data: mask, shape } }))[0];
}

/** The nearest sentences: vectors have length 1. */
function search(vector, vectors, lines) {
  const width = vector.data.length;
  const near = lines.map((line, i) => [vector.data.reduce((sum, v, k) => sum + v * vectors[i * width + k], 0), line]);
  $("found").replaceChildren();
  for (const [score, line] of near.sort((a, b) => b[0] - a[0]).slice(0, TOP)) row($("found"), score.toFixed(3), line);
}

// --- all ------------------------------------------------------------------------------------------

async function main() {
  const started = performance.now();
  const module = await compile(get("pteron.wasm"));
  const desk = new Map((await text("desk.txt")).trimEnd().split("\n").map((l) => [l.split("\t")[0], l.split("\t").slice(1)]));
  let equal = true;

  for (const name of ["digits", "digits-int8"]) {
    const model = await load(module, await bytes(`${name}.pte`));
    const image = new Float32Array(await bytes("image.f32"));
    const put = name === "digits" ? drawing(model) : () => {};
    put(image);
    equal = (await show(name, started, classify(model, image), desk)) && equal;
  }

  const [model, tokens, lines, vectors] = await Promise.all([
    bytes("minilm.pte").then((b) => load(module, b)),
    text("vocab.txt").then((t) => new Tokens(t)),
    text("page.txt").then((t) => t.trimEnd().split("\n")),
    bytes("page.f32").then((b) => new Float32Array(b)),
  ]);
  const ask = () => {
    const vector = embed(model, tokens, $("question").value);
    search(vector, vectors, lines);
    return vector;
  };
  $("question").value = desk.get("minilm")[1];
  equal = (await show("minilm", started, ask(), desk)) && equal;
  $("question").oninput = ask;
  return equal;
}

main().then(
  (equal) => ($("state").textContent = equal ? "all digests equal" : "a digest differs"),
  (error) => ($("state").textContent = `failed: ${error.message}`),
);
