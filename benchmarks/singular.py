"""What single types of transformers want beside the common small sizes: arguments of their configs, and inputs of their own."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, Final

import torch

Made = dict[str, tuple[Callable[[int, int], Any], dict[int, str]]]
"""For each input: its value for (batch, sequence), and its dynamic axes."""

_TURNS: Final = [
    "linear_attention",
    "hybrid",
    "linear_attention",
    "hybrid",
    *["linear_attention"] * 2,
]
_FORECAST: Final = {"prediction_length": 4, "context_length": 16, "num_time_features": 2}
_SERIES: Final = {"context_length": 64, "num_input_channels": 3}
_PICTURE_WORDS: Final = {
    "<image>": 120,
    **{f"IMGIMG{string.ascii_uppercase[i]}Z": 40 + i for i in range(10)},
}

CONFIGS: Final[dict[str, dict[str, Any]]] = {
    "funnel": {"architectures": ["FunnelModel"], "block_sizes": [2, 2, 2], "d_inner": 64},
    "dbrx": {
        "d_model": 32,
        "n_heads": 4,
        "attn_config": {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 1e4},
        "ffn_config": {
            "hidden_size": 32,
            "ffn_hidden_size": 64,
            "moe_num_experts": 4,
            "moe_top_k": 2,
        },
    },
    "hunyuan_v1_dense": {"head_dim": 8},
    "esm": {"vocab_size": 64, "pad_token_id": 1},
    "luke": {"entity_vocab_size": 64, "entity_emb_size": 32},
    **dict.fromkeys(["patchtst", "patchtsmixer"], _SERIES),
    "nemotron": {"head_dim": 8, "num_key_value_heads": 4},
    "xlstm": {"hidden_size": 32, "num_hidden_layers": 6, "num_heads": 4, "chunk_size": 8},
    "falcon_h1": {
        "hidden_size": 32,
        "mamba_d_ssm": 64,
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_d_state": 8,
    },
    "zamba": {
        "hidden_size": 32,
        "num_hidden_layers": 6,
        "layers_block_type": _TURNS,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "attention_head_dim": 16,
    },
    "zamba2": {
        "hidden_size": 32,
        "num_hidden_layers": 6,
        "layers_block_type": _TURNS,
        "num_attention_heads": 4,
        "mamba_d_state": 8,
        "n_mamba_heads": 4,
        "chunk_size": 8,
    },
    **dict.fromkeys(["autoformer", "informer", "time_series_transformer"], _FORECAST),
    "blip-2": {"image_token_index": 120, "num_query_tokens": 4},
    "chameleon": {
        "vocabulary_map": _PICTURE_WORDS,
        "vq_config": {
            "embed_dim": 16,
            "num_embeddings": 10,
            "latent_channels": 16,
            "resolution": 32,
            "base_channels": 32,
            "channel_multiplier": [1, 1, 2],
            "num_res_blocks": 1,
        },
    },
    "clap": {
        "audio_config": {
            "spec_size": 64,
            "num_mel_bins": 16,
            "patch_embeds_hidden_size": 4,
            "depths": [2, 2, 1, 1],
            "num_attention_heads": [1, 2, 4, 4],
            "hidden_size": 32,
            "window_size": 2,
            "patch_size": 2,
            "patch_stride": [2, 2],
        }
    },
    "grounding-dino": {
        "backbone_config": {
            "model_type": "swin",
            "num_heads": [2, 4, 8, 16],
            "window_size": 4,
            "out_features": ["stage2", "stage3", "stage4"],
        }
    },
    "oneformer": {
        "backbone_config": {
            "model_type": "swin",
            "num_heads": [2, 4, 8, 16],
            "window_size": 4,
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
        },
        "conv_dim": 32,
        "mask_dim": 32,
        "hidden_dim": 32,
        "text_encoder_width": 32,
        "dim_feedforward": 64,
        "encoder_feedforward_dim": 64,
        "text_encoder_vocab_size": 128,
    },
    "siglip2": {"vision_config": {"num_patches": 16, "patch_size": 8}},
    "sam2": {
        "vision_config": {
            "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
            "fpn_hidden_size": 32,
            "backbone_channel_list": [128, 64, 32, 16],
            "backbone_config": {
                "model_type": "sam2_hiera_det_model",
                "hidden_size": 16,
                "image_size": [64, 64],
                "global_attention_blocks": [4],
                "blocks_per_stage": [1, 2, 2, 1],
                "embed_dim_per_stage": [16, 32, 64, 128],
                "window_size_per_stage": [4, 2, 4, 2],
                "num_attention_heads_per_stage": [1, 2, 4, 8],
            },
        },
        "prompt_encoder_config": {"hidden_size": 32, "image_size": 64},
        "mask_decoder_config": {"hidden_size": 32, "num_attention_heads": 4, "mlp_dim": 64},
    },
    "depth_pro": {"intermediate_hook_ids": [1, 0]},
    "vjepa2": {
        "crop_size": 32,
        "patch_size": 8,
        "frames_per_clip": 4,
        "num_hidden_layers": 4,
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_pooler_layers": 1,
        "pred_hidden_size": 32,
        "pred_num_attention_heads": 4,
        "pred_num_hidden_layers": 2,
    },
}
"""Arguments for the config's class; common sizes are put in afterwards."""

_BATCH: Final = {0: "batch"}


def noise(config: Any) -> Made:
    patches = (config.image_size // config.patch_size) ** 2
    return {"noise": (lambda b, s: torch.rand(b, patches), _BATCH)}


def patches(config: Any) -> Made:
    part = config.vision_config
    side, width = int(part.num_patches**0.5), part.num_channels * part.patch_size**2
    count = side * side
    return {
        "pixel_values": (lambda b, s: torch.randn(b, count, width), _BATCH),
        "pixel_attention_mask": (lambda b, s: torch.ones(b, count, dtype=torch.long), _BATCH),
        "spatial_shapes": (lambda b, s: torch.full((b, 2), side), _BATCH),
    }


def sound(config: Any) -> Made:
    part = config.audio_config
    frames = part.spec_size * part.spec_size // part.num_mel_bins
    return {
        "input_features": (lambda b, s: torch.randn(b, 1, frames, part.num_mel_bins), _BATCH),
    }


def task(config: Any) -> Made:
    length = config.task_seq_len
    return {"task_inputs": (lambda b, s: torch.randint(0, 100, (b, length)), _BATCH)}


def film(config: Any) -> Made:
    shape = config.frames_per_clip, 3, config.crop_size, config.crop_size
    return {"pixel_values_videos": (lambda b, s: torch.randn(b, *shape), _BATCH)}


def series(config: Any) -> Made:
    past = config.context_length + max(config.lags_sequence)
    future, features = config.prediction_length, config.num_time_features
    return {
        "past_values": (lambda b, s: torch.randn(b, past), _BATCH),
        "past_time_features": (lambda b, s: torch.randn(b, past, features), _BATCH),
        "past_observed_mask": (lambda b, s: torch.ones(b, past), _BATCH),
        "future_values": (lambda b, s: torch.randn(b, future), _BATCH),
        "future_time_features": (lambda b, s: torch.randn(b, future, features), _BATCH),
    }


def channels(config: Any) -> Made:
    shape = config.context_length, config.num_input_channels
    return {"past_values": (lambda b, s: torch.randn(b, *shape), _BATCH)}


def wide_picture(config: Any) -> Made:
    """Its smallest map has several pixels: PyTorch's norm of a group of one element is rounding noise, which a TopK follows."""
    return {"pixel_values": (lambda b, s: torch.randn(b, 3, 128, 128), _BATCH)}


def boxes(config: Any) -> Made:
    def corners(b: int, s: int) -> Any:
        return torch.rand(b, s, 4)

    return {"bbox": (corners, {0: "batch", 1: "seq"})}


INPUTS: Final[dict[str, Callable[[Any], Made]]] = {
    "vit_mae": noise,
    "siglip2": patches,
    "clap": sound,
    "oneformer": task,
    "vjepa2": film,
    "bros": boxes,
    "grounding-dino": wide_picture,
    **dict.fromkeys(["patchtst", "patchtsmixer"], channels),
    **dict.fromkeys(["autoformer", "informer", "time_series_transformer"], series),
}
"""Inputs beside, or in place of, the common ones."""
