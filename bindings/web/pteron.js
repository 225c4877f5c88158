/**
 * Runs .pte programs in browsers and Node, by pteron.wasm.
 *
 *     const module = await compile(fetch("pteron.wasm"));
 *     const model = await load(module, await (await fetch("digits.pte")).arrayBuffer());
 *     const { logits } = model.run({ image: { data: new Float32Array(64), shape: [1, 1, 8, 8] } });
 *
 * A model has an instance of the module of its own, whose memory goes with it. One thread, portable kernels.
 */

const ARRAYS = {
  f32: Float32Array, f64: Float64Array, bool: Uint8Array, i8: Int8Array, i16: Int16Array, i32: Int32Array,
  i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
};
const STATUS = ["", "bad program", "unsupported", "bad argument", "no memory"];

/** What the runtime says of a failure; `status` is its pte_status. */
export class PteronError extends Error {
  constructor(status, text) {
    super(text || STATUS[status] || `status ${status}`);
    this.name = "PteronError";
    this.status = status;
  }
}

/** pteron.wasm, from bytes, a Response or a promise of one; once for any number of models. */
export async function compile(source) {
  const given = await source;
  if (typeof Response !== "undefined" && given instanceof Response) {
    if (!given.ok) throw new Error(`${given.url}: ${given.status}`);
    return WebAssembly.compileStreaming(given);
  }
  return WebAssembly.compile(given);
}

/** Verifies and opens the program in `bytes`, which are copied. */
export async function load(module, bytes) {
  return new Model((await WebAssembly.instantiate(module, {})).exports, new Uint8Array(bytes));
}

class Model {
  #web;
  #shapes = "";

  constructor(web, bytes) {
    this.#web = web;
    const at = this.#take(bytes.length);
    new Uint8Array(web.memory.buffer, at, bytes.length).set(bytes);
    this.#check(web.web_open(at, bytes.length));
    /** Name, dtype and rank of each. */
    this.inputs = this.#ports(0);
    this.outputs = this.#ports(1);
  }

  /**
   * Outputs by name, {data, shape}, copies; inputs by name in the same form: data is a typed array of the dtype
   * (16-bit floats by their bits), dense and row-major.
   */
  run(inputs) {
    const web = this.#web;
    for (const name of Object.keys(inputs))
      if (!this.inputs.some((port) => port.name === name)) throw new TypeError(`${name}: no such input`);
    const given = this.inputs.map((port) => {
      const value = inputs[port.name];
      if (value === undefined) throw new TypeError(`input ${port.name}: missing`);
      const kind = ARRAYS[port.dtype] ?? Uint16Array, count = value.shape.reduce((a, b) => a * b, 1);
      if (!(value.data instanceof kind) || value.shape.length !== port.rank || value.data.length !== count)
        throw new TypeError(`input ${port.name}: expected a ${kind.name} of rank ${port.rank}, as long as its shape says`);
      return value;
    });
    const shapes = JSON.stringify(given.map((value) => value.shape));
    if (shapes !== this.#shapes) {
      given.forEach((value, i) => value.shape.forEach((extent, axis) => web.web_set(i, axis, extent)));
      this.#shapes = "";
      this.#check(web.web_prepare());
      this.#shapes = shapes;
    }
    given.forEach((value, i) => {
      const bytes = new Uint8Array(value.data.buffer, value.data.byteOffset, value.data.byteLength);
      new Uint8Array(web.memory.buffer, web.web_data(0, i) >>> 0, bytes.length).set(bytes);
    });
    this.#check(web.web_run());
    return Object.fromEntries(this.outputs.map((port, i) => [port.name, this.#output(port, i)]));
  }

  #output(port, i) {
    const shape = Array.from({ length: port.rank }, (_, axis) => this.#web.web_extent(i, axis));
    const count = shape.reduce((a, b) => a * b, 1), kind = ARRAYS[port.dtype] ?? Uint16Array;
    return { data: new kind(this.#web.memory.buffer, this.#web.web_data(1, i) >>> 0, count).slice(), shape };
  }

  #ports(outputs) {
    const web = this.#web;
    return Array.from({ length: web.web_count(outputs) }, (_, i) => ({
      name: this.#text(web.web_name(outputs, i)),
      dtype: this.#text(web.web_dtype(outputs, i)),
      rank: web.web_rank(outputs, i),
    }));
  }

  #take(size) {
    const at = this.#web.web_take(size) >>> 0;
    if (at === 0) throw new PteronError(4, "");
    return at;
  }

  #text(at) {
    const bytes = new Uint8Array(this.#web.memory.buffer, at >>> 0);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  #check(status) {
    if (status !== 0) throw new PteronError(status, this.#text(this.#web.web_error()));
  }
}
