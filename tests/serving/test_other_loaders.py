"""Exported models without this package: a fresh process, saved_model_cli, and the loader of TensorFlow Serving."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
LIMIT = 1e-5
Requests = dict[str, tuple[str, dict[str, Any]]]
Answers = dict[str, dict[str, np.ndarray] | str]
CLI = "import tensorflow_text; from tensorflow.python.tools import saved_model_cli; saved_model_cli.main()"


def command(*arguments: object, **options: Any) -> str:
    found = subprocess.run(list(map(str, arguments)), check=True, capture_output=True, text=True, **options)
    return found.stdout


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """loader.cc, built against the library in TensorFlow's wheel."""
    compiler, libraries = shutil.which("g++"), Path(tf.sysconfig.get_lib())
    if compiler is None or not (libraries / "libtensorflow_cc.so.2").exists():
        pytest.skip("needs g++ and TensorFlow for Linux")
    program = tmp_path_factory.mktemp("loader") / "loader"
    flags = ["-std=c++17", "-w", "-D_GLIBCXX_USE_CXX11_ABI=1", "-DEIGEN_MAX_ALIGN_BYTES=64"]
    named = ["-l:libtensorflow_cc.so.2", "-l:libtensorflow_framework.so.2"]
    linked = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-Wl,--no-as-needed", *named]
    include = f"-I{tf.sysconfig.get_include()}"
    command(compiler, *flags, include, HERE / "loader.cc", "-o", program, *linked)
    return program


@pytest.fixture
def answers(loader: Path, tmp_path: Path) -> Callable[[Path, Requests], Answers]:
    """Asks the loader: for each request named arrays, or the error's message."""
    spec = find_spec("tensorflow_text")
    assert spec is not None
    assert spec.origin is not None
    ops = sorted((Path(spec.origin).parent / "python" / "ops").glob("*.so"))

    def ask(version: Path, requests: Requests) -> Answers:
        lines = []
        for key, (signature, inputs) in requests.items():
            for name, value in inputs.items():
                tensor = tf.make_tensor_proto(
                    value.tolist() if value.dtype == object else value, tf.as_dtype(value.dtype)
                )
                (tmp_path / f"{key}.{name}.in").write_bytes(tensor.SerializeToString())
            lines.append(" ".join([key, signature, *(f"{name}={tmp_path / f'{key}.{name}.in'}" for name in inputs)]))
        said = command(loader, version, tmp_path, *ops, input="\n".join(lines))
        return {line.split()[0]: answer(*line.split(maxsplit=1)) for line in said.splitlines()}

    def answer(key: str, status: str) -> dict[str, np.ndarray] | str:
        if status != "ok":
            return status
        outputs = [path for path in tmp_path.glob(f"{key}.*") if path.suffix != ".in"]
        return {
            path.suffix[1:]: tf.make_ndarray(tensor_pb2.TensorProto.FromString(path.read_bytes())) for path in outputs
        }

    return ask


def strings(*values: str | bytes) -> np.ndarray:
    return np.array(values, object)


def close(found: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=LIMIT)


def test_a_fresh_process_without_this_package(
    serve: Any, tmp_path: Path, regions: np.ndarray, counts: np.ndarray, texts: list[str]
) -> None:
    served = serve("attention")
    requests = {"encode_image": {"regions": regions, "n_regions": counts}, "encode_text_de": {"text": np.array(texts)}}
    for signature, inputs in requests.items():
        np.savez(tmp_path / "in.npz", **inputs)
        files = tmp_path / "in.npz", tmp_path / "out.npz"
        command(sys.executable, "-I", HERE / "fresh.py", served.export.path, signature, *files, cwd=tmp_path)
        close(np.load(tmp_path / "out.npz")["embedding"], served.ask(signature, **inputs)["embedding"])
        if signature == "encode_text_de":
            close(np.load(tmp_path / "out.npz")["embedding"], served.model.encode_text(texts, "de"))


def test_saved_model_cli(serve: Any, tmp_path: Path) -> None:
    served = serve("attention")
    arguments = ["--dir", served.export.path, "--tag_set", "serve", "--signature_def", "encode_text_en"]
    shown = command(sys.executable, "-c", CLI, "show", *arguments)
    assert "inputs['text'] tensor_info" in shown
    assert "outputs['embedding'] tensor_info" in shown
    sentences = ["--input_exprs", 'text=["a dog", "a cat and a dog"]', "--outdir", tmp_path]
    command(sys.executable, "-c", CLI, "run", *arguments, *sentences)
    close(np.load(tmp_path / "embedding.npy"), served.model.encode_text(["a dog", "a cat and a dog"]))


def test_the_loader_of_tensorflow_serving(
    serve: Any,
    answers: Callable[[Path, Requests], Answers],
    regions: np.ndarray,
    counts: np.ndarray,
    texts: list[str],
    photo: Callable[..., bytes],
) -> None:
    served = serve("attention")
    requests: Requests = {
        "image": ("encode_image", {"regions": regions, "n_regions": counts}),
        "text": ("encode_text_de", {"text": strings(*texts)}),
        "default": ("serving_default", {"text": strings(*texts)}),
        "bytes": ("encode_image_bytes", {"image": strings(photo(), photo(kind="PNG"))}),
    }
    found = answers(served.export.path, requests)
    images = served.model.encode_image(regions, np.arange(4) < counts[:, None])
    close(found["image"]["embedding"], images)
    close(found["text"]["embedding"], served.model.encode_text(texts, "de"))
    close(found["default"]["embedding"], served.model.encode_text(texts, "en"))
    expected = served.ask("encode_image_bytes", image=[photo(), photo(kind="PNG")])["embedding"]
    close(found["bytes"]["embedding"], expected)


def test_sets_and_matrices_by_the_loader(
    serve: Any, answers: Callable[[Path, Requests], Answers], regions: np.ndarray, texts: list[str]
) -> None:
    served, random = serve("transport"), np.random.default_rng(2)
    images, known = served.model.encode_image(regions), served.model.encode_text(texts)
    (image, image_mask), (text, text_mask) = images.padded(), known.padded()
    sides = {
        "image": image,
        "n_regions": image_mask.sum(1, "int32"),
        "text": text,
        "n_words": text_mask.sum(1, "int32"),
    }
    found = answers(served.export.path, {"scores": ("similarity", sides), "plan": ("explain", sides)})
    close(found["scores"]["scores"], served.model.similarity(images, known))
    plans, cosines = served.model.align(images, known)
    close(found["plan"]["plan"], plans)
    close(found["plan"]["cosine"], cosines)
    served, x = serve("matrices"), random.normal(size=(5, 6)).astype("float32")
    found = answers(served.export.path, {"x": ("encode_x", {"x": x}), "y": ("reconstruct_y", {"x": x})})
    close(found["x"]["embedding"], served.model.encode_x(x))
    close(found["y"]["y"], served.model.reconstruct_y(x))


def test_bad_requests_do_not_end_the_loader(
    serve: Any, answers: Callable[[Path, Requests], Answers], photo: Callable[..., bytes]
) -> None:
    ones, two = np.ones((2, 4, 6), "float32"), np.array([4, 2], "int32")
    many = np.array([4, 10**9], "int32")
    requests: Requests = {
        "rank_low": ("encode_image", {"regions": ones[0], "n_regions": two}),
        "rank_high": ("encode_image", {"regions": ones[None], "n_regions": two}),
        "scalar": ("encode_image", {"regions": ones, "n_regions": two[0]}),
        "size": ("encode_image", {"regions": ones[..., :5], "n_regions": two}),
        "empty": ("encode_image", {"regions": ones[:0], "n_regions": two[:0]}),
        "no_regions": ("encode_image", {"regions": ones[:, :0], "n_regions": two}),
        "counts": ("encode_image", {"regions": ones, "n_regions": many}),
        "negative": ("encode_image", {"regions": ones, "n_regions": -two}),
        "nan": ("encode_image", {"regions": ones * np.nan, "n_regions": two}),
        "huge": ("encode_image", {"regions": ones * 3e38, "n_regions": two}),
        "type": ("encode_image", {"regions": ones.astype(int), "n_regions": two}),
        "text_rank": ("encode_text_en", {"text": np.array([[b"a dog"]], object)}),
        "no_text": ("encode_text_en", {"text": strings()}),
        "jpeg": ("encode_image_bytes", {"image": strings(photo()[:200])}),
        "no_picture": ("encode_image_bytes", {"image": strings(b"")}),
        "scores": ("similarity", {"image": ones[0], "text": ones[:, :, :5][0]}),
        "bytes": ("encode_text_en", {"text": strings(b"\xff\xfe dog", b"dog\x00cat", b"\xc3")}),
        "good": ("encode_text_en", {"text": strings("a dog")}),
    }
    found = answers(serve("attention").export.path, requests)
    assert set(found) == set(requests)
    valid = {key for key, answer in found.items() if not isinstance(answer, str)}
    assert {"bytes", "good"} <= valid
    assert not valid & set(list(requests)[:11]), {key: found[key] for key in valid}
    for key in valid:
        (value,) = found[key].values()
        assert np.isfinite(value).all(), key
    assert "NaN or infinite" in str(found["nan"])
