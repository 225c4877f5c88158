"""What each runtime of benchmarks/text.py runs in a process of its own: python -c COMMON + its part, PATH THREADS CONTEXT STEPS.

A part defines `prompt(ids)`, which begins anew and reads a prompt, `back(count)`, which forgets all but the first `count` tokens,
`decode(count)`, which makes that many tokens, greedily, one after another (None where it only reads), and `package`, whose version is
told. COMMON measures the memory before it loads anything.
"""

from __future__ import annotations

COMMON = """
import importlib.metadata, sys, time, numpy as np
path, threads, context, steps = sys.argv[1], *map(int, sys.argv[2:])
ids = np.random.default_rng(0).integers(300, 32000, context)
def memory(row):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(row))
def seconds(call, *args):
    begin = time.perf_counter()
    call(*args)
    return time.perf_counter() - begin
"""

TURNS = """
seconds(prompt, ids)
print("ready", importlib.metadata.version(package), flush=True)
for line in sys.stdin:
    read = seconds(prompt, ids) if line == "prompt\\n" else 0
    rate = 0
    if decode:
        back(context)
        decode(1)
        rate = steps / seconds(decode, steps)
    print(read, rate, memory("VmHWM") - before, flush=True)
"""

PTERON = """
import pteron
package = "pteron"
before = memory("VmRSS")
model = pteron.load(path, threads=threads)
def prompt(ids):
    model.states.reset()
    next(pteron.generate(model, ids.tolist(), max_new_tokens=1))
def back(count):
    model.rewind(count)
def decode(count):
    for token in pteron.generate(model, [5], max_new_tokens=count):
        pass
"""

LLAMA_CPP = """
import llama_cpp as L
package = "llama-cpp-python"
before = memory("VmRSS")
L.llama_backend_init()
quiet = L.llama_log_callback(lambda *_: None)
L.llama_log_set(quiet, None)
model = L.llama_model_load_from_file(path.encode(), L.llama_model_default_params())
params = L.llama_context_default_params()
params.n_ctx, params.n_batch, params.n_threads, params.n_threads_batch = 2048, 2048, threads, threads
params.flash_attn_type = 0  # faster here: 29 ms a token at 1,472, not 56
context_of = L.llama_init_from_model(model, params)
memory_of = L.llama_get_memory(context_of)
def run(tokens):
    held = (L.llama_token * len(tokens))(*tokens)
    assert L.llama_decode(context_of, L.llama_batch_get_one(held, len(tokens))) == 0
    return int(np.ctypeslib.as_array(L.llama_get_logits_ith(context_of, -1), (32000,)).argmax())
def prompt(ids):
    L.llama_memory_clear(memory_of, True)
    run(ids.tolist())
def back(count):
    assert L.llama_memory_seq_rm(memory_of, 0, count, -1)
def decode(count):
    token = 5
    for _ in range(count):
        token = run([token])
"""

GENAI = """
import json, onnxruntime_genai as G
package = "onnxruntime-genai"
before = memory("VmRSS")
config = G.Config(path)
config.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads}}}}))
model = G.Model(config)
params = G.GeneratorParams(model)
params.set_search_options(max_length=2048, min_length=2048, do_sample=False)
def prompt(ids):
    global generator
    generator = G.Generator(model, params)
    generator.append_tokens(ids.astype(np.int32))
def back(count):
    generator.rewind_to(count)
    generator.append_tokens(np.array([5], np.int32))
def decode(count):
    for _ in range(count):
        generator.generate_next_token()
"""

OPENVINO = """
import openvino as O
package = "openvino"
before = memory("VmRSS")
config = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
request = O.Core().compile_model(path, "CPU", config).create_infer_request()
def prompt(ids):
    request.infer([ids.astype(np.int64)[None]])
decode = None
"""

PARTS = {"pteron": PTERON, "llama.cpp": LLAMA_CPP, "onnxruntime-genai": GENAI, "openvino": OPENVINO}


def code(runtime: str) -> str:
    return COMMON + PARTS[runtime] + TURNS
