"""The checkpoints that experts use: source, expected bytes, and licence.

Revisions and hashes are those on which at least two independent public records agree. None: no two records agree, so
the first fetch pins what it downloads. We have not downloaded any of them ourselves.
"""

from experts.checkpoints.weight_files import WeightFile, Weights

_NONCOMMERCIAL = "CC-BY-NC-4.0"
_COTRACKER = ("huggingface:facebook/cotracker3", "bf55ea50d4390e1820a267f131cd6587240fb2c5")
_GEOCALIB = "https://github.com/cvg/GeoCalib/releases/download/v1.0/"


def _file(name: str, size: int | None = None, sha256: str | None = None) -> WeightFile:
    return WeightFile(name=name, bytes=size, sha256=sha256)


def _row(name: str, source: str, revision: str | None, licence: str, *files: WeightFile, instead: str = "") -> Weights:
    """`instead` names the permissive substitute of a checkpoint that forbids commercial use."""
    return Weights(
        name=name, source=source, revision=revision, licence=licence, files=files,
        commercial_ok=not instead, instead=instead,
    )  # fmt: skip


_ROWS = (
    _row(
        "da3-small", "huggingface:depth-anything/DA3-SMALL", "e08cab65ca0ec38e7826075418411ab90cab4da3", "Apache-2.0",
        _file("config.json", 1202, "a486e29e82b7ab4a7d4cefc1ea4526cfe2ae438a572c8ca98917cfbcde7447d2"),
        _file("model.safetensors", 137248940, "364492e38a3a06d221ac75da7f6621ada3f2361cd24fde11ba79091e9f40efcf"),
    ),
    _row(
        "da3-base", "huggingface:depth-anything/DA3-BASE", "f4a6c9b3c95e41c82048423d3493a81ec3fa810e", "Apache-2.0",
        _file("config.json", 1205, "5e34115ebc17bd2d8d43033c5f72e9446ac8833fd61d3fa160b7e67e0bb5b7b5"),
        _file("model.safetensors", 541518028, "e01067dc1659613083d9145a9a2547ccdbe6ccbbf83c4fe7b3e8a4e2bdae78b5"),
    ),
    _row(  # the model card says Apache-2.0, the README of the code CC BY-NC 4.0: the stricter licence applies
        "da3-large-1.1", "huggingface:depth-anything/DA3-LARGE-1.1", "0e109ae307c5982f319a67cf6f9f99ccdc0ec97c",
        _NONCOMMERCIAL,
        _file("config.json", 1213, "744dcaf53859490ed92fc6cb98d68d3daf624b8c54533aaf604bdb53f06321f5"),
        _file("model.safetensors", 1643843860, "739905c423cf0d6ccaf9e61a8401d82ba1ac32d7f4d3ee6dca8f92b377633f64"),
        instead="depth_anything_3:base",
    ),
    _row(
        "da3-giant-1.1", "huggingface:depth-anything/DA3-GIANT-1.1", "72ee9f89ce4e50d704e9d55ee9c646ec8dc25a19",
        _NONCOMMERCIAL, _file("config.json"), _file("model.safetensors"), instead="depth_anything_3:base",
    ),
    _row(
        "da3metric-large", "huggingface:depth-anything/DA3METRIC-LARGE", "4010e39f3634a45bc60553321fb49fb760bd594e",
        "Apache-2.0",
        _file("config.json", 847, "a336f3e76fe375aaae17a9aed9130c9f2aa061535d317ec57dcb2f1f02e1dd53"),
        _file("model.safetensors", 1336734448, "bbea5b0b3ee389849cffa7ddae89de064a90abd2b055fc5aa99aac68db324776"),
    ),
    _row(
        "da3nested-giant-large-1.1", "huggingface:depth-anything/DA3NESTED-GIANT-LARGE-1.1",
        "b2359bdf726fb44ef62acca04d629dcf158053e7", _NONCOMMERCIAL,
        _file("config.json", 3113, "09adf89474017e717bc05aa86fd3a378708ba8914b036d61874eced328069468"),
        _file("model.safetensors", 6759558100, "8ebe871a022ed58d2fc8fdfb2ebdb31d57b60fe39611c849095851a7b7c6020c"),
        instead="depth_anything_3:base",
    ),
    _row(
        "geocalib-pinhole", _GEOCALIB, "v1.0", "CC-BY-4.0",
        _file("geocalib-pinhole.tar", 116074121, "86d6aeacd8bbd974c59ce39f61854e00d36911c732ad89be471476fd708722ac"),
    ),
    _row(
        "geocalib-distorted", _GEOCALIB, "v1.0", "CC-BY-4.0",
        _file("geocalib-distorted.tar", None, "13cc505928e3ff4eb26c00bff73861ab2b11b804a546323456cf5462e1f8f447"),
    ),
    _row(
        "orient-anything-v1", "huggingface:Viglong/Orient-Anything", None, "CC-BY-4.0",
        _file("ronormsigma1/dino_weight.pt"),
    ),
    _row(
        "orient-anything-v2", "huggingface:Viglong/OriAnyV2_ckpt", None, "not stated; built on VGGT",
        _file("demo_ckpts/rotmod_realrotaug_best.pt", 5048116892,
              "7b6b7f258d32b95123b9d023005ecca357d8ab944fb83476f532d3cf7a2295eb"),
        instead="orient_anything",
    ),
    _row(
        "spatial-tracker-v2-offline", "huggingface:Yuxihenry/SpatialTrackerV2-Offline", None, _NONCOMMERCIAL,
        _file("config.json"), _file("model.safetensors"), instead="tapir",
    ),
    _row(
        "cotracker3-offline", *_COTRACKER, _NONCOMMERCIAL,
        _file("scaled_offline.pth", 101890938, "2670d4562ed69326dda775a26e54883925cd11b6fc9b24cb7aa9f8078bce7834"),
        instead="tapir",
    ),
    _row(
        "cotracker3-online", *_COTRACKER, _NONCOMMERCIAL,
        _file("scaled_online.pth", 101695610, "205d34789f19699d64b22cf93f9b697f15f28d4025240e31532e504109837218"),
        instead="tapir",
    ),
    _row(
        "bootstapir", "https://storage.googleapis.com/dm-tapnet/bootstap/", "v2", "Apache-2.0",
        _file("bootstapir_checkpoint_v2.pt", 218886140,
              "8493c7a69e02c85b9382fbb3c7b8b539b36bc08ede744b9e99feb739a0129f4b"),
    ),
    _row(
        "grounding-dino-base", "huggingface:IDEA-Research/grounding-dino-base",
        "12bdfa3120f3e7ec7b434d90674b3396eccf88eb", "Apache-2.0",
        _file("config.json", 1737, "eda416dae6f49419ff831b1c190ec430a060b19aae688dbaf2425a075b650608"),
        _file("model.safetensors", 933400872, "5548f844c928c4b6f411fa8cbcc2bfa8dbbba437cb1d513975519f93c2a9ed21"),
        _file("preprocessor_config.json", 457, "8454179ba95e2ad22947835aad7b45862a601fc0055ab88bf1ee70892d3aea60"),
        _file("special_tokens_map.json", 125, "b6d346be366a7d1d48332dbc9fdf3bf8960b5d879522b7799ddba59e76237ee3"),
        _file("tokenizer.json", 711396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        _file("tokenizer_config.json", 1237, "d40ab645b68211910b9170d22433d43186a6ec8ee6fd10ba170524b25bf4fb56"),
        _file("vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    ),
    _row(
        "owlv2-base", "huggingface:google/owlv2-base-patch16-ensemble", "cfd3195ba4ea9592eec887ded089f4c08eff231d",
        "Apache-2.0",
        _file("config.json"),
        _file("model.safetensors", 619918824, "e1e130b9e404cf91a75ad45644c1da9d7fa5284085eecc864266a6923efb99e7"),
        _file("preprocessor_config.json"), _file("added_tokens.json"), _file("merges.txt"),
        _file("special_tokens_map.json"), _file("tokenizer_config.json"), _file("vocab.json"),
    ),
    _row(
        "sam2.1-hiera-small", "huggingface:facebook/sam2.1-hiera-small", "ee5bba1d82bb8749febdf90f45e84b687142ba03",
        "Apache-2.0",
        _file("config.json", 5698, "97ff9f65b76d107acda4247885f0a5555d0048850ae3c5f97183df289aaecde9"),
        _file("model.safetensors", 184305280, "0a4067b11ce1e23d5229203f11c718a823060d15a4b23fa2372a7d4b77cbbc60"),
        _file("preprocessor_config.json", 683, "6ebf229ee259368ce4a8d4f2fe893a72b053023710853e257253939e601f583d"),
        _file("processor_config.json", 95, "f8a68e865cfad115c1c2763f3d93eca7b1c622da06da2a9273eb437fb2389b6d"),
        _file("video_preprocessor_config.json", 705,
              "9fccfe5f464ec38c2f236d0e6a68e95511c80c22132fc2fa4b9f7b65f24fad95"),
    ),
)  # fmt: skip

WEIGHTS: dict[str, Weights] = {row.name: row for row in _ROWS}
"""Every checkpoint by name."""
