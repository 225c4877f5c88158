# The front door. `make test` is the whole truth; CI calls nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
SHELL := bash

SEED ?= 1
COUNT ?= 60

.PHONY: help site dev dev-torch dev-npu gen test lint demo bench bench-gemm bench-gemv bench-rows bench-pointwise bench-attention bench-export bench-quant bench-dispatch bench-text mca size clean ctest wheel fuzz fuzz-readers holes undefined races refusals mutants wheel-aarch64 wheel-windows sdk sweep graphs replay test-boards test-rows android-models web fresh zoo roads sizes tokenizers

help:
	@echo "make dev     .venv with Pteron (editable) and every tool of development"
	@echo "make dev-torch  PyTorch and the packages of examples/search, too"
	@echo "make dev-npu    .venv-npu: the TOSA tools, the VGF converter and the emulated NPU"
	@echo "make demo    digit classifier in f32, NF4, FP8, MX, int8; on CPU, DSP and NPU: accuracy, size, digest"
	@echo "make test    everything CI checks; skips, with the reason, what needs a tool that is absent; SHARE=1/12: every twelfth test"
	@echo "make fresh   README's two commands on new Debians with the oldest Python and the newest, an hour; SHARE=1/12 (root, mmdebstrap)"
	@echo "make test-rows    rows of long tables (families of decoders) of which make test takes those that differ in kind"
	@echo "make test-boards  the slow matrix of phones and boards: an APK without an NDK, its library, Cortex-M images and C archives under emulation"
	@echo "make android-models  programs and tables into the assets of android_demo"
	@echo "make web     build/web: WebAssembly, the page of examples/web, its programs; needs clang-19 and lld-19"
	@echo "make site    build/site/html: the pages as a site, warnings as errors"
	@echo "make lint    ruff, mypy, clang-format"
	@echo "make gen     generated files from schema/"
	@echo "make bench   beside onnxruntime and openvino, where installed: writes benchmarks/RESULTS.md; BENCH='--out FILE': that of another processor"
	@echo "make sweep   architectures of transformers and timm, then PyTorch's table of operators, against eager; goes on where it was"
	@echo "make roads   60 networks of torchvision and timm from the module and from ONNX: nodes, int8 layers, bytes; goes on where it was"
	@echo "make sizes   60 networks and 60 types of transformers with derived and automatic dimensions, against eager; goes on where it was"
	@echo "make zoo     published model files of PyPI and npm beside onnxruntime, in f32, int8, NF4: writes docs/models.md; goes on where it was"
	@echo "make fuzz    libFuzzer on the verifier and on runs, two minutes each (clang-19)"
	@echo "make holes   closed holes opened again in copies: does the fuzzer find each? HOLES='600 panels'"
	@echo "make fuzz-readers  bent files for every Python reader: READERS='20000 gguf npz'"
	@echo "make tokenizers  17 kinds beside the package tokenizers, on random texts and megabytes, and bent segments: TOKENIZERS='20000 100000 llama-3'"
	@echo "make races   the thread sanitizer on the pool, on sessions side by side, on every kernel"
	@echo "make mutants SEED=1 COUNT=60  turns operators in the exporter and the runtime; do the fast tests notice?"
	@echo "make refusals which refusals of the verifier and session no test notices, one taken away at a time"
	@echo "make replay  digests of programs written anew, after a change that is meant to change them"
	@echo "make graphs  random ONNX graphs against the reference: GRAPHS=20000"
	@echo "make bench-gemm  matrix kernels against the peak of this processor"
	@echo "make bench-gemv  stored weights times a vector against reading them"
	@echo "make bench-rows  products of few rows whose weights come from memory, in f32 and stored"
	@echo "make mca     shares of peak that llvm-mca predicts for the inner loops on cores of Arm (clang-19, llvm-19)"
	@echo "make bench-pointwise  additions and pools of codes, floats to codes and back, against reading and writing L2"
	@echo "make bench-attention  attention of encoders and decoders against the peak of this processor"
	@echo "make bench-dispatch  nanoseconds an instruction of a chain of tiny ones"
	@echo "make bench-export  seconds and memory of an export: 100 to 10,000 nodes, a decoder of 984 MB, 10 MB to static int8"
	@echo "make bench-quant  size against accuracy of quantized weights: writes docs/quantization.md"
	@echo "make bench-text  tokens a second of a decoder; BENCH='--peers PYTHON': beside llama.cpp, onnxruntime-genai, OpenVINO; --where"
	@echo "make size    bytes of the runtime by part"
	@echo "make wheel   dist/: the archive of the sources, and a manylinux wheel built from it"
	@echo "make sdk     dist/sdk/: archives of the C library and tools for x86-64, 64-bit Arm, 32-bit Arm, RISC-V; SDKS=native"
	@echo "make wheel-aarch64  dist/, a wheel for 64-bit Arm by the cross compiler"
	@echo "make wheel-windows  dist/, a wheel for 64-bit Windows by mingw-w64"

# Rebuilt when the C sources or the build files change; Python files are seen at once (editable install).
C_SOURCES := $(shell find runtime_c bindings -name '*.[ch]' -o -name '*.inc' -o -name 'CMakeLists.txt' -o -name '*.in' -o -name '*.cmake' 2>/dev/null) CMakeLists.txt bindings/ffi_build.py bindings/ffi_codec.py

$(VENV)/bin/activate:
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --upgrade pip

$(VENV)/.runtime: $(VENV)/bin/activate pyproject.toml $(C_SOURCES)
	@$(BIN)/python -m pip install -q "scikit-build-core>=0.11" "cffi>=1.16" "cmake>=3.25" ninja
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[export]"
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime pyproject.toml
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[dev]"
	@touch $@

$(VENV)/.torch: $(VENV)/.dev pyproject.toml
	@$(BIN)/python -m pip install -q "torch==2.13.0"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[search]"
	@$(BIN)/python -m pip install -q --no-deps "bitsandbytes==0.50.2" "gguf==0.19.0" "compressed-tensors==0.20.0" "torchao==0.18.0" loguru psutil  # what ours is compared with
	@$(BIN)/python -m pip install -q --no-deps --upgrade --target $(VENV)/networks "timm==1.0.31" "torchvision==0.28.0" "pillow>=11"  # where only those who ask find them
	@touch $@

dev: $(VENV)/.dev

dev-torch: dev $(VENV)/.torch

# These packages pin what onnx does not take: an environment of their own, which the exporter calls (PTERON_NPU_PYTHON).
NPU_VENV := .venv-npu

$(NPU_VENV)/.npu: pyproject.toml
	@test -x $(NPU_VENV)/bin/python || $(PYTHON) -m venv $(NPU_VENV)
	@$(NPU_VENV)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["npu"], sep="\n")' >$(NPU_VENV)/requirements
	@$(NPU_VENV)/bin/python -m pip install -q -r $(NPU_VENV)/requirements
	@touch $@

dev-npu: $(NPU_VENV)/.npu

gen: dev
	@$(BIN)/python schema/gen

lint: dev
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .
	@$(BIN)/mypy -p pteron --no-error-summary
	@git ls-files '*.c' '*.h' '*.inc' | xargs $(BIN)/clang-format --dry-run --Werror
	@$(BIN)/python schema/gen --check

site: dev
	@$(BIN)/python docs/site/build.py

test: dev
	@SHARE=$(SHARE) .ci/steps

fresh:
	@for suite in bookworm sid; do tests/fresh.sh $$suite $(SHARE) || exit 1; done

# What .ci/run has no time for. Tools: apt-get install apksigner libsmali-java dexdump chromium nodejs kotlin
# gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross, and those of .ci/run (clang-19, mingw-w64 and wine among them).
test-boards: dev-torch
	@PTERON_REQUIRE_ALL=1 $(BIN)/python -m pytest tests -m boards
	@$(BIN)/python tests/boards/table.py docs/boards.md

# Rows of tables of which .ci/run takes those that differ in kind.
test-rows: dev-torch
	@PTERON_REQUIRE_ALL=1 $(BIN)/python -m pytest tests -m rows -n $(or $(WORKERS),2)

android-models: dev-torch
	@$(BIN)/python -W ignore android_demo/models.py

web: dev-torch
	@bindings/web/build.sh build/web
	@cp examples/web/* build/web/
	@$(BIN)/python -W ignore android_demo/models.py build/web >build/web/models.log 2>&1 || { cat build/web/models.log; exit 1; }

demo: $(VENV)/.runtime
	@PTERON_NPU_PYTHON=$${PTERON_NPU_PYTHON:-$(wildcard $(CURDIR)/$(NPU_VENV)/bin/python)} $(BIN)/python examples/digits/demo.py

# Kernels alone: a program of C each.
BENCHES := bench-gemm bench-gemv bench-rows bench-attention bench-pointwise
$(BENCHES): bench-%:
	@mkdir -p build
	@cmake -S . -B build/bench -DPTE_BUILD_TESTS=OFF -DPTE_BUILD_TOOLS=OFF -DPTE_BUILD_SHARED=OFF >build/bench.log
	@cmake --build build/bench -j >>build/bench.log
	@$(CC) -O2 -Iruntime_c -Iruntime_c/include benchmarks/$*.c build/bench/runtime_c/libpteron.a -pthread -lm -o build/$@
	@build/$@

bench-dispatch: dev
	@$(BIN)/python benchmarks/dispatch.py

bench-export: dev
	@$(BIN)/python benchmarks/export_cost.py --decoder --static

bench-quant: dev-torch
	@$(BIN)/python benchmarks/quantization.py

bench-text: dev-torch
	@$(BIN)/python benchmarks/text.py $(BENCH)

# Shares of peak that llvm-mca predicts for the inner loops on Arm's cores; clang-19 and llvm-19.
mca: $(VENV)/.runtime
	@$(BIN)/python benchmarks/mca.py

bench: dev
	@$(BIN)/python benchmarks/bench.py $(BENCH)

sweep: dev-torch
	@$(BIN)/python -m pip install -q --no-deps "expecttest>=0.3"
	@$(BIN)/python -W ignore benchmarks/sweep.py
	@$(BIN)/python -W ignore benchmarks/operators.py

# 60 networks of torchvision and timm, from the module and from the file that torch.onnx.export writes of it; goes on where it was.
roads: dev-torch
	@$(BIN)/python -W ignore benchmarks/roads.py

# The same networks and types of transformers with derived dimensions and Dim.AUTO, at other sizes, beside eager.
sizes: dev-torch
	@$(BIN)/python -W ignore benchmarks/sizes.py

# npm packs what comes from there.
zoo: dev
	@$(BIN)/python -m pip install -q "pillow>=11"
	@OMP_NUM_THREADS=1 $(BIN)/python -W ignore benchmarks/zoo.py
	@$(BIN)/python benchmarks/zoo.py --report

# What the thread sanitizer says of the pool, of sessions side by side, and of every kernel.
races: dev
	@PYTHON=$(BIN)/python SANITIZE=thread tests/c/run.sh $(addprefix tests/c/test_,pool.c threads.c session.c host.c)
	@cd tests && ../$(BIN)/python -m ops.races

refusals: dev
	@$(BIN)/python tests/mutants/runtime.py --refusals

fuzz: dev
	@PYTHON=$(BIN)/python tests/fuzz/run.sh 120

# Bent files for every Python reader: READERS='20000 gguf'.
READERS ?= 2000
fuzz-readers: dev
	@$(BIN)/python tests/fuzz/readers.py $(READERS)

# Tokenizers carried in a program beside `tokenizers`: texts a kind, bent segments a kind, and kinds.
TOKENIZERS ?= 20000 100000
tokenizers: dev-torch
	@$(BIN)/python -W ignore tests/tokenizing/many.py $(TOKENIZERS)

# Holes that were closed, opened again: the fuzzer must find each within ten minutes.
holes: dev
	@$(BIN)/python tests/fuzz/holes.py $(HOLES)

# Every kernel under clang's sanitizers, products up to K of 2,048; UNDEFINED=12: one case in twelve.
undefined: dev
	@cd tests && ../$(BIN)/python -m ops.undefined $(UNDEFINED)

$(VENV)/.mutants: $(VENV)/.dev
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[mutants]"
	@touch $@

mutants: $(VENV)/.mutants
	@$(BIN)/python tests/mutants/exporter.py --seed $(SEED) --count $(COUNT)
	@$(BIN)/python tests/mutants/runtime.py --seed $(SEED) --count $(COUNT)

GRAPHS ?= 20000
graphs: dev
	@cd tests && ../$(BIN)/python -m graphs.many 0 $(GRAPHS)

# The wheel comes from the archive of the sources, so that both are tried.
wheel: $(VENV)/.dev
	@rm -rf build/wheel && mkdir -p build/wheel dist
	@$(BIN)/python -m build --no-isolation --outdir build/wheel . >build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --plat auto -w dist build/wheel/*.whl >>build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	@cp build/wheel/*.tar.gz dist/

replay: dev
	@cd tests && ../$(BIN)/python -m replay.programs

wheel-aarch64: $(VENV)/.dev
	@_PYTHON_HOST_PLATFORM=linux-aarch64 CMAKE_ARGS=-DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/runtime_c/cmake/aarch64-linux-gnu.cmake \
	  $(BIN)/python -m pip wheel -q --no-build-isolation --no-deps -w dist .

# Needs gcc-mingw-w64-x86-64-posix.
wheel-windows: $(VENV)/.dev
	@PYTHON=$(abspath $(BIN))/python runtime_c/cmake/wheel_windows.sh dist

SDKS ?= native aarch64-linux-gnu armv7-linux-gnueabihf riscv64-linux-gnu
sdk:
	@runtime_c/cmake/sdk.sh dist/sdk $(SDKS)

size: dev
	@$(BIN)/python benchmarks/size.py

clean:
	rm -rf build dist $(VENV) $(NPU_VENV)
