"""A Python module that is not there: which package brings it, and when no package does.

The name that is imported is often not the package's. A name that this table does not know may be the program's own, and
what PyPI holds under it something else: nothing is to be installed by guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .fact_names import PACKAGES
from .fact_store import Facts
from .step import Advice

BUILDS_AGAINST_TORCH = " --no-build-isolation"  # its build imports the torch that is installed
NAMES: dict[str, str] = {  # import name -> what pip is to be given, where the two differ or options are needed
    "PIL": "Pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "causal_conv1d": "causal-conv1d" + BUILDS_AGAINST_TORCH,
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "flash_attn": "flash-attn" + BUILDS_AGAINST_TORCH,
    "flash_attn_2_cuda": "flash-attn" + BUILDS_AGAINST_TORCH,
    "git": "GitPython",
    "hydra": "hydra-core",
    "mamba_ssm": "mamba-ssm" + BUILDS_AGAINST_TORCH,
    "megatron": "megatron-core",
    "pkg_resources": "'setuptools<81'",
    "pynvml": "nvidia-ml-py",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "transformer_engine": "'transformer-engine[pytorch]'" + BUILDS_AGAINST_TORCH,
    "yaml": "PyYAML",
    "rouge_score": "rouge-score",
    "sentence_transformers": "sentence-transformers",
    **{
        name: name
        for name in (
            "decord", "einops", "evaluate", "h5py", "jax", "matplotlib", "mpi4py", "nltk", "omegaconf", "pandas",
            "protobuf", "psutil", "pyarrow", "scipy", "sentencepiece", "tensorboard", "tensorboardX", "tiktoken", "timm",
            "torchaudio", "torchvision", "tqdm", "wandb", "webdataset",
        )
    },
}  # fmt: skip
OF_APEX = ("apex", "amp_C", "apex_C", "fused_layer_norm_cuda", "fused_weight_gradient_mlp_cuda")
APEX = (
    "git clone https://github.com/NVIDIA/apex && pip install -v --no-build-isolation --config-settings "
    '"--build-option=--cpp_ext" --config-settings "--build-option=--cuda_ext" ./apex'
)
_NAME = re.compile(r"[A-Za-z_]\w{0,80}", re.ASCII)


def module_advice(_cause: str, fields: Mapping[str, Any], _facts: Facts) -> tuple[Advice, ...]:
    """Yield how to get the module: its package, a build from source, or where the program's own code lies."""
    module = str(fields.get("module") or "")
    top = module.partition(".")[0]
    if not _NAME.fullmatch(top):
        return ()
    if top in OF_APEX:
        source = f"Build NVIDIA's Apex, which brings {module}, from source on every node"
        return (Advice("now", f"{source}; the apex on PyPI is another package.", APEX, replaces=True),)
    package = NAMES.get(top) or (top if top.replace("_", "-") in PACKAGES else None)
    if package is None:
        text = (
            f"If {module} is the program's own, start where its code lies or put that folder on PYTHONPATH, on every node; "
            "else install the package that brings it into the environment that the ranks really use."
        )
        return (Advice("now", text, "which python; echo $PYTHONPATH; pwd", replaces=True),)
    text = f"Install {module} into the environment that the ranks really use, on every node."
    return (Advice("now", text, f"which python; python -m pip install {package}", replaces=True),)
